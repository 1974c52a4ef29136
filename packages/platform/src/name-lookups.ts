import { lookup as dnsLookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { untilAborted } from './abort.ts'
import { Slots } from './slots.ts'

export interface Address {
  readonly address: string
  readonly family: number
}

/** Resolves a name to all of its addresses; once the signal aborts, nothing more is done for it. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly Address[]>

/** Of one request to a name server; the next one waits twice as long. */
const TIMEOUT_MS = 1_500
const TRIES = 2
/** Names that one holder may look up at a time; the others wait. */
const HOLDER_MAX = 8
const PROCESS_MAX = 256

const lookups = new Map<string, Promise<readonly Address[]>>()

/**
 * By the machine's own resolver, which knows its hosts file and search domains. It occupies one of the few threads of the
 * process for as long as a silent name server likes, and cannot be cancelled: one lookup of a name at a time.
 */
export function systemResolve(hostname: string): Promise<readonly Address[]> {
  const underWay = lookups.get(hostname)
  if (underWay) return underWay
  const looking = new Promise<readonly Address[]>((resolve, reject) => {
    dnsLookup(hostname, { all: true, verbatim: true }, (error, found) =>
      error ? reject(error) : resolve(found),
    )
  }).finally(() => lookups.delete(hostname))
  lookups.set(hostname, looking)
  return looking
}

export interface NameLookupOptions {
  /** Whether a name that the name servers do not know may be one of the machine's own. */
  readonly ownNames: boolean
  /** Addresses of name servers; by default those of the machine. */
  readonly servers?: readonly string[]
}

interface Shared {
  readonly found: Promise<readonly Address[]>
  readonly cancelling: AbortController
  waiting: number
}

/**
 * Looks up names that tenants choose, whose name servers may never respond. Name servers are queried directly, which takes
 * no thread; lookups end with those who wait for them, and are bounded for each holder and for the process. The machine's
 * own resolver looks up one name at a time.
 */
export class NameLookups {
  readonly #options: NameLookupOptions
  readonly #underWay = new Map<string, Shared>()
  readonly #holders = new Map<string, Slots>()
  readonly #process = new Slots(PROCESS_MAX)
  readonly #system = new Slots(1)

  constructor(options: NameLookupOptions) {
    this.#options = options
  }

  async resolve(holder: string, hostname: string, signal: AbortSignal): Promise<readonly Address[]> {
    const key = `${holder} ${hostname}`
    const shared = this.#underWay.get(key) ?? this.#begin(key, holder, hostname)
    shared.waiting++
    try {
      return await untilAborted(shared.found, signal)
    } finally {
      shared.waiting--
      if (shared.waiting === 0) {
        if (this.#underWay.get(key) === shared) this.#underWay.delete(key)
        shared.cancelling.abort()
      }
    }
  }

  #begin(key: string, holder: string, hostname: string): Shared {
    const cancelling = new AbortController()
    const found = this.#inTurn(holder, hostname, cancelling.signal)
    const shared = { found, cancelling, waiting: 0 }
    this.#underWay.set(key, shared)
    return shared
  }

  async #inTurn(holder: string, hostname: string, signal: AbortSignal): Promise<readonly Address[]> {
    const ofHolder = this.#holders.get(holder) ?? new Slots(HOLDER_MAX)
    this.#holders.set(holder, ofHolder)
    const look = () => this.#process.run(signal, () => this.#look(hostname, signal))
    try {
      return await ofHolder.run(signal, look)
    } finally {
      if (ofHolder.idle) this.#holders.delete(holder)
    }
  }

  async #look(hostname: string, signal: AbortSignal): Promise<readonly Address[]> {
    const { ownNames, servers } = this.#options
    const bySystem = () => this.#system.run(signal, () => systemResolve(hostname))
    // RFC 6761 section 6.3: never sent to a name server.
    if (ownNames && hostname === 'localhost') return systemResolve(hostname)
    try {
      return await queryNameServers(hostname, signal, servers)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (ownNames && UNKNOWN.has(code)) return bySystem()
      const errorCode = code === 'ENOTFOUND' || code === 'ENODATA' ? 'ENOTFOUND' : 'EAI_AGAIN'
      throw Object.assign(new Error('a name could not be looked up', { cause: error }), { code: errorCode })
    }
  }
}

/** No name server knows an address, or the machine has no name server. */
const UNKNOWN: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

async function queryNameServers(
  hostname: string,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<readonly Address[]> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const responses = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = responses.flatMap((one, n) =>
      one.status === 'fulfilled' ? one.value.map((address) => ({ address, family: n === 0 ? 4 : 6 })) : [],
    )
    if (found.length > 0) return found
    const causes = responses.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
    throw causes.find((cause) => !UNKNOWN.has((cause as NodeJS.ErrnoException).code ?? '')) ?? causes[0]
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
