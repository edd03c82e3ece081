import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const categories = feature({
  name: 'categories',
  repositories: { categories: repository },
  commands: {
    categories: async () => (await import('./commands.ts')).categoriesCommands,
  },
  operations: () => import('./operations.ts'),
});
