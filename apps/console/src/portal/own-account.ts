import { useQuery } from '@tanstack/react-query'
import type { OwnAccount } from '../passkey.ts'
import { queryClient } from '../session.ts'
import type { Schemas } from './api.ts'
import { memberQuery, portalQuery, refreshMember } from './session.ts'

/** A member’s, of one tenant. */
export const OWN_ACCOUNT: OwnAccount<Schemas['MemberSession']> = {
  nameIn: ({ member: { memberId, name }, tenant }) => ({
    name: `${name} of ${tenant.name}`,
    isSame: memberId === queryClient.getQueryData(memberQuery.queryKey)?.member.memberId,
  }),
  refreshSession: refreshMember,
  usePasskeysOn: () => useQuery(portalQuery).data?.passkeys === true,
}
