/** Where a PostgreSQL server listens. A host that begins with a slash is the directory of a Unix socket. */
export interface DatabaseHost {
  readonly host: string
  readonly port: number
}

export interface DatabaseUrl {
  /** The URL with its first host alone, without what only libpq understands. */
  readonly url: string
  /** At least one. */
  readonly hosts: readonly DatabaseHost[]
  readonly targetSessionAttrs: string | undefined
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([/?][^#]*)?$/
const DEFAULT_PORT = '5432'

/**
 * Reads a connection URL with one host or several, as libpq writes them: `h1:5432,h2:5432` before the database, or
 * `host=h1,h2&port=5432,5433` behind it (PostgreSQL manual, section "Specifying Multiple Hosts").
 */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, before = '', authority = '', rest = ''] = PARTS.exec(text) ?? []
  const texts = authority.split(',').map((host) => `${before}${host}${rest}`)
  if (before === '' || !texts.every((each) => URL.canParse(each))) return undefined
  const urls = texts.map((each) => new URL(each))
  const url = urls[0]!
  const { searchParams } = url
  const targetSessionAttrs = searchParams.get('target_session_attrs') ?? undefined
  searchParams.delete('target_session_attrs')
  const hosts = searchParams.get('host')?.split(',') ?? urls.map(hostOf)
  const ports = searchParams.get('port')?.split(',') ?? urls.map(({ port }) => port)
  // One port serves for all hosts.
  if (ports.length > 1 && ports.length !== hosts.length) return undefined
  for (const [name, values] of Object.entries({ host: hosts, port: ports }))
    if (searchParams.has(name)) searchParams.set(name, values[0]!)
  const numbers = hosts.map((_, n) => (ports.length === 1 ? ports[0] : ports[n]) || DEFAULT_PORT)
  if (!numbers.every((port) => /^\d{1,5}$/.test(port))) return undefined
  return {
    url: url.href,
    hosts: hosts.map((host, n) => ({ host, port: Number(numbers[n]) })),
    targetSessionAttrs,
  }
}

const hostOf = ({ hostname }: URL): string => decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')
