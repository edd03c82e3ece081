// Contract: section 7.
import {
  findVariableWarnings,
  listSettings,
  parseConfig,
  type Config as OwnConfig,
} from '../config/config.ts';
import type { SettingValues } from '../config/variables.ts';
import type { Together } from '../resources/feature.ts';
import { FEATURES } from '../resources/index.ts';

type FeatureSettings = Together<
  Extract<(typeof FEATURES)[number], { readonly settings: object }>['settings']
>;

const SETTINGS: FeatureSettings = Object.assign(
  {},
  ...FEATURES.map((each) => ('settings' in each ? each.settings : {})),
);

/** The whole configuration, with the settings of all features. */
export type Config = OwnConfig & SettingValues<FeatureSettings>;

/** @throws ConfigError that names every wrong variable. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => parseConfig(env, SETTINGS);

/** @throws ConfigError that names every wrong variable. */
export const readSettings = (env: NodeJS.ProcessEnv) => listSettings(env, SETTINGS);

export const variableWarnings = (env: NodeJS.ProcessEnv) => findVariableWarnings(env, SETTINGS);
