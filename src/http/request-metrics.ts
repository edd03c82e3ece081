export interface RequestMetrics {
  /** `route` is the template, never the path; `seconds` is how long the answer took. */
  observe(method: string, route: string, status: number, seconds: number): void;
}
