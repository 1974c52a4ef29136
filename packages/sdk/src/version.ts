/** The version of this package. */
export const VERSION = '0.1.0'

interface Runtime {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> }
  readonly Deno?: { readonly version: { readonly deno: string } }
}

function runtime(): string {
  const { Deno, process } = globalThis as Runtime
  if (Deno) return `deno/${Deno.version.deno}`
  const { bun, node } = process?.versions ?? {}
  if (bun !== undefined) return `bun/${bun}`
  return node === undefined ? 'unknown' : `node/${node}`
}

/** What the client says of itself in `User-Agent` (RFC 9110 section 10.1.5); browsers send their own. */
export const USER_AGENT = `svc-sdk/${VERSION} ${runtime()}`
