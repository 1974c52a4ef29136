import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import type { Services } from '@svc/server/http/operation'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
} from 'openid-client'
import { isOperatorName } from './operator-store.ts'

/** Seconds that the provider has for a response. */
const TIMEOUT_SECONDS = 8
/** Its metadata are read again after this time. */
const METADATA_MS = 3_600_000
/** What `ClientError` says when no usable response came. */
const UNREACHED = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
])

/** Whom the provider names. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  /** Lower case; `undefined` when the claim is missing, no possible name of an operator, or an e-mail address that is not verified. */
  readonly name: string | undefined
  /** When the person signed in at the provider (`auth_time`), where it says so. */
  readonly authenticatedAt: Date | undefined
}

type ProviderTools = Pick<Services, 'config' | 'keyring' | 'log' | 'publicUrl'>

/** The OpenID Connect provider of the settings: authorization code flow with PKCE (RFC 9700 section 2.1.1). */
export class IdentityProvider {
  readonly #tools: ProviderTools
  #found: { readonly configuration: Promise<Configuration>; readonly untilMs: number } | undefined

  constructor(tools: ProviderTools) {
    this.#tools = tools
  }

  get issuer(): string | undefined {
    return this.#tools.config.OIDC_ISSUER
  }

  get #redirectUri(): string {
    return `${this.#tools.publicUrl()}/console/oidc`
  }

  /**
   * How long ago the person may have signed in at the provider. Where money moves need a recent sign-in, one that the
   * provider only remembers is none: it asks again, and says when in the id token (`auth_time`).
   */
  get #maxAgeSeconds(): number | undefined {
    const { CONSOLE_STEP_UP_MINUTES: minutes } = this.#tools.config
    return minutes > 0 ? minutes * 60 : undefined
  }

  /** Values of one sign-in, each from the random value that its browser has: none of them is stored. */
  #secretsOf(challenge: string) {
    const derive = (what: string) =>
      this.#tools.keyring.digest('session', `oidc ${what} ${challenge}`).toString('base64url')
    return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
  }

  /** Where the browser goes to sign in. Throws `identity_provider_unavailable`. */
  async authorizationUrl(challenge: string): Promise<string> {
    const configuration = await this.#discovered()
    const { state, nonce, verifier } = this.#secretsOf(challenge)
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: 'openid profile email',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(this.#maxAgeSeconds !== undefined && { max_age: String(this.#maxAgeSeconds) }),
    }).href
  }

  /**
   * Redeems what the provider sent the browser back with. State, nonce and code verifier must be those of this
   * challenge, and the id token signed by the provider. Throws `single_sign_on_failed` or
   * `identity_provider_unavailable`.
   */
  async person(challenge: string, responseQuery: string): Promise<Person> {
    const configuration = await this.#discovered()
    const { state, nonce, verifier } = this.#secretsOf(challenge)
    const currentUrl = new URL(this.#redirectUri)
    currentUrl.search = responseQuery
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      ...(this.#maxAgeSeconds !== undefined && { maxAge: this.#maxAgeSeconds }),
    }
    try {
      const tokens = await authorizationCodeGrant(configuration, currentUrl, checks)
      const claims = required(tokens.claims(), 'a nonce is expected, so there is an id token')
      const { iss: issuer, sub: subject, auth_time: authTime } = claims
      const authenticatedAt = authTime === undefined ? undefined : new Date(authTime * 1_000)
      // Providers may send claims of scopes in the id token or from here (OpenID Connect Core section 5.4).
      const person =
        claims[this.#tools.config.OIDC_NAME_CLAIM] === undefined &&
        configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await fetchUserInfo(configuration, tokens.access_token, subject)
          : claims
      return { issuer, subject, name: this.#nameIn(person), authenticatedAt }
    } catch (error) {
      if (!wasReached(error)) return fail('identity_provider_unavailable', { cause: error })
      this.#tools.log.warn({ err: error }, 'the response of the identity provider was refused')
      return fail('single_sign_on_failed', { cause: error })
    }
  }

  #nameIn(claims: Readonly<Record<string, unknown>>): string | undefined {
    const claim = this.#tools.config.OIDC_NAME_CLAIM
    const name = claims[claim]
    if (claim === 'email' && claims['email_verified'] !== true) return undefined
    if (typeof name !== 'string') return undefined
    return isOperatorName(name.toLowerCase()) ? name.toLowerCase() : undefined
  }

  async #discovered(): Promise<Configuration> {
    const now = performance.now()
    if (!this.#found || this.#found.untilMs <= now)
      this.#found = { configuration: this.#discover(), untilMs: now + METADATA_MS }
    const { configuration } = this.#found
    try {
      return await configuration
    } catch (error) {
      // What failed is tried again by the next sign-in.
      if (this.#found?.configuration === configuration) this.#found = undefined
      return fail('identity_provider_unavailable', { cause: error })
    }
  }

  async #discover(): Promise<Configuration> {
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = this.#tools.config
    const issuer = new URL(OIDC_ISSUER ?? fail('single_sign_on_off'))
    const clientId = required(OIDC_CLIENT_ID, 'it is set together with the issuer')
    const secret = required(OIDC_CLIENT_SECRET, 'it is set together with the issuer').reveal()
    // The settings allow plain HTTP on this machine only.
    const execute = issuer.protocol === 'http:' ? [allowInsecureRequests] : []
    return discovery(issuer, clientId, secret, undefined, {
      timeout: TIMEOUT_SECONDS,
      // The signature of the id token is verified although it comes from the provider itself.
      execute: [...execute, enableNonRepudiationChecks],
    })
  }
}

/** Whether the provider sent what it should, or refused; not whether the sign-in is valid. */
function wasReached(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status < 500
  if (error instanceof ClientError) return error.code !== undefined && !UNREACHED.has(error.code)
  // What `fetch` throws when no connection comes about, or when it breaks.
  return !(error instanceof TypeError)
}
