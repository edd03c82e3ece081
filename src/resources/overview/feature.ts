import { feature } from '../feature.ts';

export const overview = feature({
  name: 'overview',
  commands: {
    accounts: async () => (await import('./show-account.ts')).showAccount,
    pets: async () => (await import('./show-pet.ts')).showPet,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
