import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import type { Schemas } from './api.ts'
import { CallFailed } from './failure.ts'

type Options = Schemas['PasskeyOptions']
type Passkey = Schemas['Passkey']

/** The operations of console or portal, which both have under the same names. */
export interface PasskeyCalls<Session> {
  readonly list: () => Promise<{ readonly data: readonly Passkey[] }>
  readonly start: () => Promise<Options>
  readonly register: (name: string, credential: never) => Promise<unknown>
  readonly remove: (passkeyId: string) => Promise<unknown>
  readonly startSignIn: () => Promise<Options>
  readonly signIn: (credential: never) => Promise<Session>
  /** Of the session that a sign-in begins: the person's name, and whether it is the one who is signed in. */
  readonly nameIn: (session: Session) => { readonly name: string; readonly isSame: boolean }
  readonly refreshSession: () => Promise<unknown>
  /** Whether browsers allow passkeys at this address. */
  readonly useIsOn: () => boolean
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
export async function addPasskey<Session>(calls: PasskeyCalls<Session>, name: string): Promise<void> {
  const { options } = await calls.start()
  const credential = await withAuthenticator(() => startRegistration({ optionsJSON: options as never }))
  await calls.register(name, credential as never)
}

export async function signInWithPasskey<Session>(calls: PasskeyCalls<Session>): Promise<Session> {
  const { options } = await calls.startSignIn()
  const credential = await withAuthenticator(() => startAuthentication({ optionsJSON: options as never }))
  return calls.signIn(credential as never)
}

/** A passkey of another account signs that one in: the requested action must not go on in another name. */
export async function proveWithPasskey<Session>(calls: PasskeyCalls<Session>): Promise<Session> {
  const session = await signInWithPasskey(calls)
  const { isSame, name } = calls.nameIn(session)
  if (isSame) return session
  window.location.reload()
  throw new CallFailed(0, 'passkey_of_another', `This passkey belongs to ${name}.`)
}
