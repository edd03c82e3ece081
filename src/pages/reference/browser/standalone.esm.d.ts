/** Scalar's build for browsers, which is served beside our script. */
export declare function createApiReference(
  element: Element,
  configuration: Readonly<Record<string, unknown>>,
): unknown;
