import type { IncomingHttpHeaders } from 'node:http'
import type { Services } from '@svc/server/http/operation'
import { parseCookie, stringifySetCookie } from 'cookie'

const LIFE_SECONDS = 600

/**
 * The cookie that binds a sign-in to the browser that began it: another one's response is worth nothing there (decision
 * O2). Over TLS the browser itself holds it to this host. The page calls both operations itself, so it is `Strict`.
 */
export class BrowserCookie {
  readonly #services: Pick<Services, 'publicUrl'>
  readonly #of: 'console' | 'portal'
  readonly #what: 'oidc' | 'passkey'

  constructor(services: Pick<Services, 'publicUrl'>, of: 'console' | 'portal', what: 'oidc' | 'passkey') {
    this.#services = services
    this.#of = of
    this.#what = what
  }

  get #secure(): boolean {
    return this.#services.publicUrl().startsWith('https:')
  }

  get #name(): string {
    return `${this.#secure ? '__Host-' : ''}svc_${this.#of}_${this.#what}`
  }

  /** `Set-Cookie`, for ten minutes. */
  set(value: string): string {
    const secure = this.#secure
    return stringifySetCookie({
      name: this.#name,
      value,
      httpOnly: true,
      sameSite: 'strict',
      secure,
      path: secure ? '/' : `/${this.#of}`,
      maxAge: LIFE_SECONDS,
    })
  }

  read({ cookie }: IncomingHttpHeaders): string | undefined {
    return parseCookie(cookie ?? '')[this.#name]
  }
}
