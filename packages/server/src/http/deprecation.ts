/** When an operation was deprecated, and when it is removed at the earliest (docs/reference/compatibility.md). */
export interface Deprecation {
  readonly since: Date
  readonly sunset: Date
}

/** RFC 9745 (`Deprecation`, a structured date), RFC 8594 (`Sunset`, an HTTP date), and where the policy is. */
export const deprecationHeaders = (
  { since, sunset }: Deprecation,
  publicUrl: string,
): Record<string, string> => ({
  deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
  sunset: sunset.toUTCString(),
  link: `<${publicUrl}/docs/reference/compatibility#deprecation>; rel="deprecation"; type="text/html"`,
})
