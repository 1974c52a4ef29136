import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import { api, responseOf, type Schemas } from './api.ts'
import { CallFailed } from './failure.ts'

/** What console and portal each know of the person who is signed in. Their operations are under the same names. */
export interface OwnAccount<Session> {
  /** Of the session that a sign-in begins: the person's name, and whether it is the one who is signed in. */
  readonly nameIn: (session: Session) => { readonly name: string; readonly isSame: boolean }
  /** Loads the session again, which says whether a second factor is missing. */
  readonly refreshSession: () => Promise<unknown>
  /** Whether browsers allow passkeys at this address. */
  readonly usePasskeysOn: () => boolean
}

/** Runs what the browser asks the person for; a refusal is reported in words of this page. */
async function withAuthenticator<T>(ceremony: () => Promise<T>): Promise<T> {
  try {
    return await ceremony()
  } catch (error) {
    const isPresent =
      error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
    throw new CallFailed(
      0,
      isPresent ? 'passkey_present' : 'passkey_cancelled',
      isPresent
        ? 'You have a passkey for this account on this device already.'
        : 'The browser returned no passkey. It may have been cancelled, or there is none for this address.',
    )
  }
}

/** Creates a passkey for the person who is signed in. */
export async function addPasskey(name: string): Promise<void> {
  const { options } = await responseOf(api.POST('/session/passkeys/options'))
  const credential = await withAuthenticator(() => startRegistration({ optionsJSON: options as never }))
  await responseOf(api.POST('/session/passkeys', { body: { name, credential: credential as never } }))
}

/** Resolves with the session of the console, or in the portal with that of a member. */
export async function signInWithPasskey<Session = Schemas['Session']>(): Promise<Session> {
  const { options } = await responseOf(api.POST('/session/passkey/options'))
  const credential = await withAuthenticator(() => startAuthentication({ optionsJSON: options as never }))
  return (await responseOf(
    api.POST('/session/passkey', { body: { credential: credential as never } }),
  )) as Session
}

/** A passkey of another account signs that one in: the requested action must not go on in another name. */
export async function proveWithPasskey<Session>({ nameIn }: OwnAccount<Session>): Promise<Session> {
  const session = await signInWithPasskey<Session>()
  const { isSame, name } = nameIn(session)
  if (isSame) return session
  window.location.reload()
  throw new CallFailed(0, 'passkey_of_another', `This passkey belongs to ${name}.`)
}
