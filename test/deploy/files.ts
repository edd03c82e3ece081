import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

export const read = (name: string) => readFileSync(pathOf(name), 'utf8');

export const readYaml = (name: string) => parse(read(name)) as unknown;

export interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly description: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

export const DASHBOARD = JSON.parse(read('deploy/grafana/petstore.json')) as Dashboard;

/** The queries of the dashboard, with values for what Grafana fills in. */
export function dashboardQueries(): readonly string[] {
  return DASHBOARD.panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'petstore')),
  );
}
