import { isIP } from 'node:net'
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import type { PersonKey } from './audience.ts'
import type { Challenges } from './challenges.ts'
import type { Passkey } from './passkey-store.ts'

/** Milliseconds that the browser waits for the person. */
const TIMEOUT_MS = 300_000
/** What an authenticator keeps to find the account: the key of the person, at most 64 bytes (section 5.4.3). */
const handleOf = (owner: PersonKey): string => owner.join(' ')
/** The person whom a response names; `undefined` where it names none. */
export const ownerOfHandle = (handle: string | undefined): PersonKey | undefined =>
  handle === undefined ? undefined : Buffer.from(handle, 'base64url').toString().split(' ')

interface PasskeyTools extends Pick<Services, 'publicUrl'> {
  readonly challenges: Challenges
  /** A transaction of the tenant of a person; before the person is known, of the platform. */
  readonly within: <T>(tenantId: string, work: (tx: Tx) => Promise<T>) => Promise<T>
  /** As authenticators list the page. */
  readonly pageName: string
}

/** Whose passkey it becomes. */
export interface Registrant {
  readonly tenantId: string
  readonly owner: PersonKey
  /** As authenticators list the account. */
  readonly label: string
}

interface RelyingParty {
  /** Scheme, host and port of the page. */
  readonly origin: string
  /** Host name that passkeys belong to. */
  readonly id: string
}

/** Browsers allow passkeys for host names only, over TLS or on this machine (WebAuthn level 3 section 5.1.3). */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(publicUrl)
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) > 0
  return !isAddress && (protocol === 'https:' || hostname === 'localhost')
    ? { origin, id: hostname }
    : undefined
}

/** The ceremonies of WebAuthn: what a browser is asked, and whether what it returns is genuine. */
export class Passkeys {
  readonly #tools: PasskeyTools

  constructor(tools: PasskeyTools) {
    this.#tools = tools
  }

  /** Whether browsers allow passkeys at the service's address. */
  get isOn(): boolean {
    return relyingPartyOf(this.#tools.publicUrl()) !== undefined
  }

  /** Throws `passkeys_off` where they are not possible. */
  get #party(): RelyingParty {
    return relyingPartyOf(this.#tools.publicUrl()) ?? fail('passkeys_off')
  }

  /** What the browser needs to create a passkey that identifies its owner by itself. */
  async registrationOptions(
    { label, owner, tenantId }: Registrant,
    present: readonly Passkey[],
    browser: string,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { challenges, pageName, within } = this.#tools
    const { id } = this.#party
    const challenge = await within(tenantId, (tx) =>
      challenges.issue(tx, 'passkey_registration', { owner, browser }),
    )
    return generateRegistrationOptions({
      rpName: pageName,
      rpID: id,
      userID: new TextEncoder().encode(handleOf(owner)),
      userName: label,
      userDisplayName: label,
      challenge: Buffer.from(challenge, 'base64url'),
      timeout: TIMEOUT_MS,
      attestationType: 'none',
      excludeCredentials: present.map(({ credentialId, transports }) => ({
        id: credentialId.toString('base64url'),
        transports: [...transports],
      })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
  }

  /** The credential that the browser created for this person. Throws `passkey_refused`. */
  async registered({ owner, tenantId }: Registrant, response: RegistrationResponseJSON, browser: string) {
    const { id, origin } = this.#party
    const challenge =
      (await this.#useChallenge(tenantId, 'passkey_registration', response, { owner, browser })) ??
      fail('passkey_refused')
    try {
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
      })
      if (registrationInfo) return registrationInfo.credential
    } catch (cause) {
      return fail('passkey_refused', { cause })
    }
    return fail('passkey_refused')
  }

  /** What the browser needs to use any passkey that it has for this address. */
  async signInOptions(browser: string): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { challenges, within } = this.#tools
    const { id } = this.#party
    const challenge = await within(PLATFORM_TENANT, (tx) =>
      challenges.issue(tx, 'passkey_sign_in', { browser }),
    )
    return generateAuthenticationOptions({
      rpID: id,
      challenge: Buffer.from(challenge, 'base64url'),
      timeout: TIMEOUT_MS,
      allowCredentials: [],
      userVerification: 'required',
    })
  }

  /** Uses the challenge of a sign-in up; `undefined` for one that is not open in this browser. */
  async challengeOf(response: AuthenticationResponseJSON, browser: string): Promise<string | undefined> {
    return this.#useChallenge(PLATFORM_TENANT, 'passkey_sign_in', response, { browser })
  }

  /**
   * Whether the passkey signed this challenge, at this address, after it recognized the person. Returns the counter of
   * the authenticator, which the caller compares; `undefined` for a response that is not genuine.
   */
  async counterOf(
    { credentialId, publicKey, owner }: Passkey,
    challenge: string,
    response: AuthenticationResponseJSON,
  ): Promise<number | undefined> {
    const { id, origin } = this.#party
    const { userHandle } = response.response
    if (userHandle !== undefined && userHandle !== Buffer.from(handleOf(owner)).toString('base64url'))
      return undefined
    try {
      const { authenticationInfo, verified } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
        credential: {
          id: credentialId.toString('base64url'),
          publicKey: new Uint8Array(publicKey),
          // The library would report a copy like any other response that is not genuine.
          counter: 0,
        },
      })
      return verified ? authenticationInfo.newCounter : undefined
    } catch {
      return undefined
    }
  }

  async #useChallenge(
    tenantId: string,
    purpose: 'passkey_registration' | 'passkey_sign_in',
    response: RegistrationResponseJSON | AuthenticationResponseJSON,
    bound: { readonly owner?: PersonKey; readonly browser: string },
  ): Promise<string | undefined> {
    const { challenges, within } = this.#tools
    const challenge = challengeIn(response.response.clientDataJSON)
    if (challenge === undefined) return undefined
    const isOpen = await within(tenantId, (tx) => challenges.use(tx, purpose, challenge, bound))
    return isOpen ? challenge : undefined
  }
}

/** The challenge that the browser says it signed; `undefined` for what cannot be read. */
function challengeIn(clientData: string): string | undefined {
  try {
    const { challenge } = decodeClientDataJSON(clientData)
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    return undefined
  }
}
