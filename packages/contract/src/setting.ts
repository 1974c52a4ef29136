import { isIP } from 'node:net'
import { parseDatabaseUrl } from '@svc/kernel/database-url'
import { type Paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { Secret } from '@svc/kernel/secret'
import { AdapterError, type RailAdapter, readRailAdapters } from './rail-adapters.ts'

/** `D`: the type of the default. Without one (`undefined`) the setting may be absent, and `Config` says so. */
export interface Setting<T, D extends string | undefined = string> {
  readonly type: string
  /** As an operator would write it; `undefined` when there is none. */
  readonly default: D
  readonly meaning: string
  /** `again`: where a file gave the text, reads what the file has now; throws `BadSetting`. */
  readonly read: (text: string, again?: () => string) => T
  /** May be given by a file besides, named by the setting with `_FILE` behind its name. */
  readonly secret?: true
}

export class BadSetting extends Error {}
export const bad = (rule: string): never => {
  throw new BadSetting(rule)
}

export const text = <D extends string | undefined>(fallback: D, meaning: string): Setting<string, D> => ({
  type: 'text',
  default: fallback,
  meaning,
  read: (value) => value,
})

export function oneOf<const T extends string>(
  choices: readonly T[],
  fallback: T,
  meaning: string,
): Setting<T> {
  return {
    type: choices.map((choice) => `\`${choice}\``).join(', '),
    default: fallback,
    meaning,
    read: (value) =>
      choices.find((choice) => choice === value) ?? bad(`must be one of ${choices.join(', ')}`),
  }
}

export function whole(fallback: number, min: number, max: number, meaning: string): Setting<number> {
  return {
    type: `whole number, ${min} to ${max}`,
    default: String(fallback),
    meaning,
    read(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : bad(`must be a whole number from ${min} to ${max}`)
    },
  }
}

export const digits = (min: number, max: number, fallback: string, meaning: string): Setting<string> => ({
  type: `${min} to ${max} digits`,
  default: fallback,
  meaning,
  read: (value) =>
    /^\d+$/.test(value) && value.length >= min && value.length <= max
      ? value
      : bad(`must be ${min} to ${max} digits`),
})

export function address(protocols: readonly string[], meaning: string): Setting<string, undefined> {
  return {
    type: 'URL',
    default: undefined,
    meaning,
    read(value) {
      const scheme = URL.canParse(value) ? new URL(value).protocol : ''
      return protocols.includes(scheme)
        ? value.replace(/(?<!\/)\/+$/, '')
        : bad(`must be a URL with ${protocols.join(' or ')}`)
    },
  }
}

export const hidden = <D extends string | undefined>(setting: Setting<string, D>): Setting<Secret, D> => ({
  ...setting,
  secret: true,
  read: (value) => new Secret(setting.read(value)),
})

/** A secret whose file is replaced while the service runs. */
export class RenewedSecret extends Secret {
  readonly #again: (() => string) | undefined

  constructor(text: string, again?: () => string) {
    super(text)
    this.#again = again
  }

  /** The secret of now. Throws `BadSetting` where its file cannot be read. */
  current(): Secret {
    return this.#again ? new Secret(this.#again()) : this
  }
}

export const renewed = (meaning: string): Setting<RenewedSecret, undefined> => ({
  ...text(undefined, meaning),
  secret: true,
  read: (value, again) => new RenewedSecret(value, again),
})

/** A PostgreSQL server or several; `target`: what `target_session_attrs` may ask of them, which is what the service does. */
export function database(target: readonly string[], meaning: string): Setting<Secret, undefined> {
  return {
    type: 'URL',
    default: undefined,
    meaning,
    secret: true,
    read(value) {
      const text = value.replace(/(?<!\/)\/+$/, '')
      const parsed = parseDatabaseUrl(text) ?? bad('must be a URL with postgres: or postgresql:')
      if (parsed.targetSessionAttrs !== undefined && !target.includes(parsed.targetSessionAttrs))
        bad(`must have no target_session_attrs but ${target.join(' or ')}`)
      return new Secret(text)
    },
  }
}

export const masterKeys: Setting<Secret[], undefined> = {
  type: '32 bytes in base64, comma-separated',
  secret: true,
  default: undefined,
  meaning:
    'Wraps every key that the database holds. The first one wraps, all of them unwrap, so that it can be rotated. Needed in live mode; in sandbox mode made on first start and kept in `DATA_DIR/master.key`. Make one with `openssl rand -base64 32`.',
  read: (value) =>
    value.split(',').map((part) => {
      const key = part.trim()
      return /^[A-Za-z0-9+/_-]{43}=?$/.test(key)
        ? new Secret(key)
        : bad('must be 32 bytes in base64 (44 characters)')
    }),
}

/** Whose `X-Forwarded-For` is trusted: none, that of so many proxies in a row, or that of these addresses. */
export type TrustedProxies = false | number | readonly string[]

const PROXIES_MAX = 10

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  // A prefix of no bits is every address: what `true` would mean.
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

export const trustedProxies: Setting<TrustedProxies> = {
  type: `\`false\`, whole number from 1 to ${PROXIES_MAX}, or addresses and networks, comma-separated`,
  default: 'false',
  meaning:
    'Proxies whose `X-Forwarded-For` is believed: how many are in front, such as `1`, or their addresses and networks, such as `10.0.0.5, 10.1.0.0/16`. The caller’s address, which is logged and limited, is the last one in the header that none of them has. Prefer addresses where the service can be reached past the proxy. `true` is refused: it would believe whatever a caller writes into the header.',
  read(value) {
    if (value === 'false') return false
    if (value === 'true')
      return bad(
        'must not be true, which believes an address that the caller invents; set the number of proxies in front, such as 1, or their addresses, such as 10.0.0.5, 10.1.0.0/16',
      )
    if (/^[1-9]\d?$/.test(value) && Number(value) <= PROXIES_MAX) return Number(value)
    const networks = value.split(',').map((part) => part.trim())
    return networks.every(isNetwork)
      ? networks
      : bad(
          `must be false, a whole number of proxies from 1 to ${PROXIES_MAX}, or addresses and networks such as 10.0.0.5, 10.1.0.0/16`,
        )
  },
}

/** Keys with which a rail signs what it sends. */
export const railKeys = (meaning: string): Setting<Secret[], undefined> => ({
  type: 'text of 32 characters or more, comma-separated',
  secret: true,
  default: undefined,
  meaning,
  read: (value) =>
    value
      .split(',')
      .map((part) =>
        part.trim().length >= 32 ? new Secret(part.trim()) : bad('each key must have 32 characters or more'),
      ),
})

/** A network in CIDR notation. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Largest amount of one QR code by merchant category; `default` for the others. */
export type AmountCaps = ReadonlyMap<string, Paise>

export const amountCaps: Setting<AmountCaps> = {
  type: '`category=rupees`, comma-separated',
  default: 'default=100000',
  meaning:
    'Largest amount of a QR code and of a payment to it, by merchant category code; `default` for all others.',
  read(value) {
    const caps = new Map<string, Paise>()
    for (const part of value.split(',')) {
      const [category = '', rupees = ''] = part.trim().split('=')
      const amount = valueIn(readAmount(rupees))
      if (!/^(?:default|\d{4})$/.test(category) || amount === undefined || amount <= 0n)
        bad('must look like default=100000,5411=200000')
      else caps.set(category, amount)
    }
    return caps.has('default') ? caps : bad('must have a default')
  },
}

export const adapters: Setting<ReadonlyMap<string, RailAdapter>> = {
  type: 'JSON object of adapters by name',
  default: '{}',
  meaning:
    'How banks write and sign their notices of credits, which they send to `/rails/upi/credits?bank=NAME`; see the guide of the UPI rail.',
  read(value) {
    try {
      return readRailAdapters(value)
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      return bad(`must be a JSON object of adapters, as in the guide of the UPI rail: ${error.message}`)
    }
  },
}

export const networks: Setting<readonly Network[]> = {
  type: '`address/prefix`, comma-separated',
  default: 'none',
  meaning:
    'Networks that webhooks may go to although they are private, such as `10.20.0.0/16,fd00::/8`. Sandbox mode allows loopback besides. Without it only public addresses are reached, and names that only the hosts file or the search domains of the machine know are not looked up.',
  read: (value) =>
    value === 'none'
      ? []
      : value.split(',').map((part) => {
          const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(part.trim()) ?? []
          const family = isIP(address)
          if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128))
            bad('must look like 10.20.0.0/16,fd00::/8')
          return { address, prefix: Number(prefix), family: family === 4 ? 'ipv4' : 'ipv6' }
        }),
}

export const timeZone: Setting<string> = {
  type: 'IANA time zone',
  default: 'Asia/Kolkata',
  meaning: 'Business zone: dates without a zone, day and month limits.',
  read(value) {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
    } catch {
      return bad('must be an IANA time zone such as Asia/Kolkata')
    }
  },
}
