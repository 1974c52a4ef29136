import { startAuthentication, WebAuthnError } from '@simplewebauthn/browser'
import { api, responseOf, type Schemas } from './api.ts'
import { CallFailed } from './failure.ts'

/** Runs what the browser asks the person for; a refusal is reported in words of this page. */
export async function withAuthenticator<T>(ceremony: () => Promise<T>): Promise<T> {
  try {
    return await ceremony()
  } catch (error) {
    const isPresent =
      error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
    throw new CallFailed(
      0,
      isPresent ? 'passkey_present' : 'passkey_cancelled',
      isPresent
        ? 'You have a passkey for this console on this device already.'
        : 'The browser returned no passkey. It may have been cancelled, or there is none for this address.',
    )
  }
}

export async function signInWithPasskey(): Promise<Schemas['Session']> {
  const { options } = await responseOf(api.POST('/session/passkey/options'))
  const credential = await withAuthenticator(() => startAuthentication({ optionsJSON: options as never }))
  return responseOf(api.POST('/session/passkey', { body: { credential: credential as never } }))
}

/** A passkey of another operator signs that one in: the requested action must not go on in another name. */
export async function proveWithPasskey(name: string): Promise<Schemas['Session']> {
  const session = await signInWithPasskey()
  if (session.operator.name === name) return session
  window.location.reload()
  throw new CallFailed(0, 'passkey_of_another', `This passkey belongs to ${session.operator.name}.`)
}
