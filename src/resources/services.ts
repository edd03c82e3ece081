import type { Logger } from 'pino';
import type { OpenService, ServiceModule, Together } from './feature.ts';
import { FEATURES } from './index.ts';

type Modules = Awaited<
  ReturnType<Extract<(typeof FEATURES)[number], { readonly service: unknown }>['service']>
>;

type Needs = Together<Parameters<Modules['open']>[0]>;

type UsesOf<Module extends ServiceModule> = Module extends ServiceModule
  ? Awaited<ReturnType<Module['open']>> extends { readonly uses: infer Uses }
    ? Uses
    : never
  : never;

/** What operations may use besides the repositories. */
type ServiceUses = Together<UsesOf<Modules>>;

/** What the services of all features need together, but for what they open themselves. */
export type ServiceNeeds = Omit<Needs, keyof ServiceUses>;

/** Opens the services of all features in their order. */
export async function openServices(
  needs: ServiceNeeds,
): Promise<{ readonly services: readonly OpenService[]; readonly uses: ServiceUses }> {
  const services: OpenService[] = [];
  const uses = {};
  try {
    for (const each of FEATURES) {
      if (!('service' in each)) continue;
      const { open }: ServiceModule = await each.service();
      const opened = await open({ ...needs, ...uses } as never);
      services.push(opened);
      Object.assign(uses, opened.uses);
    }
  } catch (error) {
    await closeServices(services, needs.log);
    throw error;
  }
  return { services, uses: uses as ServiceUses };
}

/** Closes them in the reverse order, also after one that fails. Never rejects. */
export async function closeServices(services: readonly OpenService[], log: Logger): Promise<void> {
  for (const service of services.toReversed())
    await service.close?.().catch((error: unknown) => log.warn({ err: error }, 'a service did not close'));
}
