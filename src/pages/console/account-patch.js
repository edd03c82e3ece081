import { bodyOf } from './account-fields.js';

/** @typedef {import('./account-fields.js').Typed} Typed */

/** Whether two forms of an account differ. @param {Typed} one @param {Typed} other */
export function differs(one, other) {
  return JSON.stringify(typedValues(one)) !== JSON.stringify(typedValues(other));
}

/**
 * The change from the values that the operator saw to those typed, if the account still has the values seen.
 * A plan and its limits change together. Undefined: there is nothing to change.
 * @param {Typed} base @param {Typed} typed
 */
export function accountPatch(base, typed) {
  const { name, ...its } = bodyOf(typed);
  const isRenamed = name !== base.name;
  const isOtherPlan = differs({ ...base, name }, typed);
  if (!isRenamed && !isOtherPlan) return undefined;
  const { name: oldName, ...old } = typedValues(base);
  return {
    ...(isRenamed ? { name } : {}),
    ...(isOtherPlan ? its : {}),
    expected: { ...(isRenamed ? { name: oldName } : {}), ...(isOtherPlan ? old : {}) },
  };
}

/** @param {Typed} typed */
function typedValues(typed) {
  const { name, plan } = typed;
  return { ...bodyOf(typed), name, plan };
}
