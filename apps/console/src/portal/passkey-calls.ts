import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../api.ts'
import type { PasskeyCalls } from '../passkey.ts'
import { queryClient } from '../session.ts'
import { api, type Schemas } from './api.ts'
import { memberQuery, portalQuery, refreshMember } from './session.ts'

/** Passkeys of members, each of one tenant. */
export const PASSKEY_CALLS: PasskeyCalls<Schemas['MemberSession']> = {
  list: () => responseOf(api.GET('/session/passkeys')),
  start: () => responseOf(api.POST('/session/passkeys/options')),
  register: (name, credential) => responseOf(api.POST('/session/passkeys', { body: { name, credential } })),
  remove: (passkeyId) =>
    responseOf(api.DELETE('/session/passkeys/{passkeyId}', { params: { path: { passkeyId } } })),
  startSignIn: () => responseOf(api.POST('/session/passkey/options')),
  signIn: (credential) => responseOf(api.POST('/session/passkey', { body: { credential } })),
  nameIn: ({ member: { memberId, name }, tenant }) => ({
    name: `${name} of ${tenant.name}`,
    isSame: memberId === queryClient.getQueryData(memberQuery.queryKey)?.member.memberId,
  }),
  refreshSession: refreshMember,
  useIsOn: () => useQuery(portalQuery).data?.passkeys === true,
}
