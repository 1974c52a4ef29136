import type { Services } from '@svc/server/http/operation'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { PersonKey } from './audience.ts'

const LIFE_MS = 180 * 86_400_000
/** A cookie is set again when so much of its life is over. */
const RENEW_MS = LIFE_MS / 2
/** People whom one browser knows; the first one gives way. */
const PEOPLE_MAX = 4
const ENTRY = /^([A-Za-z0-9_-]{1,300})\.([A-Za-z0-9_-]{22})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{43})$/

interface Headers {
  readonly headers: Readonly<Record<string, unknown>>
}

/** A browser in which a person has signed in before. */
export interface KnownDevice {
  readonly id: string
  /** The key of the person, then the name with which that person signs in. */
  readonly of: readonly string[]
}

/**
 * Remembers in a signed cookie who has signed in with a browser (decision A11). It begins no session: it only has a place of
 * its own where attempts are slowed down, for the person whom it names.
 */
export class KnownDevices {
  readonly #tools: Pick<Services, 'clock' | 'keyring' | 'publicUrl' | 'random'>
  readonly #face: 'console' | 'portal'

  constructor(
    tools: Pick<Services, 'clock' | 'keyring' | 'publicUrl' | 'random'>,
    face: 'console' | 'portal',
  ) {
    this.#tools = tools
    this.#face = face
  }

  get #secure(): boolean {
    return this.#tools.publicUrl().startsWith('https:')
  }

  get #cookieName(): string {
    return `${this.#secure ? '__Host-' : ''}svc_${this.#face}_device`
  }

  #signed(person: string, id: string, until: string): string {
    const text = `device ${this.#face} ${person} ${id} ${until}`
    const digest = this.#tools.keyring.digest('session', text).toString('base64url')
    return `${person}.${id}.${until}.${digest}`
  }

  #entries({ headers: { cookie } }: Headers): { entry: string; untilMs: number; device: KnownDevice }[] {
    const value = parseCookie(typeof cookie === 'string' ? cookie : '')[this.#cookieName] ?? ''
    return value.split('~').flatMap((entry) => {
      const [, person = '', id = '', until = ''] = ENTRY.exec(entry) ?? []
      const untilMs = Number.parseInt(until, 36) * 1_000
      if (entry !== this.#signed(person, id, until) || untilMs <= this.#tools.clock.now()) return []
      const of = Buffer.from(person, 'base64url').toString().split(' ')
      return [{ entry, untilMs, device: { id, of } }]
    })
  }

  /** Whether the person of this name has signed in with the browser; of a member, of this tenant where one is given. */
  find(request: Headers, name: string, tenantId?: string): KnownDevice | undefined {
    return this.#entries(request).find(
      ({ device: { of } }) => of.at(-1) === name && (tenantId === undefined || of[0] === tenantId),
    )?.device
  }

  /** `Set-Cookie` for the browser in which this person has just signed in; none where it says so already. */
  remember(request: Headers, key: PersonKey, name: string): readonly string[] {
    const { clock, random } = this.#tools
    const now = clock.now()
    const person = Buffer.from([...key, name].join(' ')).toString('base64url')
    const known = this.#entries(request)
    const mine = known.find(({ entry }) => entry.startsWith(`${person}.`))
    if (mine && mine.untilMs > now + RENEW_MS) return []
    const id = mine?.device.id ?? Buffer.from(random(16)).toString('base64url')
    const until = Math.floor((now + LIFE_MS) / 1_000).toString(36)
    const others = known.filter((each) => each !== mine).map(({ entry }) => entry)
    const secure = this.#secure
    return [
      stringifySetCookie({
        name: this.#cookieName,
        value: [...others, this.#signed(person, id, until)].slice(-PEOPLE_MAX).join('~'),
        httpOnly: true,
        sameSite: 'strict',
        secure,
        path: secure ? '/' : `/${this.#face}`,
        maxAge: LIFE_MS / 1_000,
      }),
    ]
  }
}
