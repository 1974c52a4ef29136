import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from './api.ts'
import type { PasskeyCalls } from './passkey.ts'
import { aboutQuery, queryClient, refreshSession, sessionQuery } from './session.ts'

/** Passkeys of operators. */
export const PASSKEY_CALLS: PasskeyCalls<Schemas['Session']> = {
  list: () => responseOf(api.GET('/session/passkeys')),
  start: () => responseOf(api.POST('/session/passkeys/options')),
  register: (name, credential) => responseOf(api.POST('/session/passkeys', { body: { name, credential } })),
  remove: (passkeyId) =>
    responseOf(api.DELETE('/session/passkeys/{passkeyId}', { params: { path: { passkeyId } } })),
  startSignIn: () => responseOf(api.POST('/session/passkey/options')),
  signIn: (credential) => responseOf(api.POST('/session/passkey', { body: { credential } })),
  nameIn: ({ operator: { name, operatorId } }) => ({
    name,
    isSame: operatorId === queryClient.getQueryData(sessionQuery.queryKey)?.operator.operatorId,
  }),
  refreshSession,
  useIsOn: () => useQuery(aboutQuery).data?.passkeys === true,
}
