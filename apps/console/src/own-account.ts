import { useQuery } from '@tanstack/react-query'
import type { Schemas } from './api.ts'
import type { OwnAccount } from './passkey.ts'
import { aboutQuery, queryClient, refreshSession, sessionQuery } from './session.ts'

/** An operator’s. */
export const OWN_ACCOUNT: OwnAccount<Schemas['Session']> = {
  nameIn: ({ operator: { name, operatorId } }) => ({
    name,
    isSame: operatorId === queryClient.getQueryData(sessionQuery.queryKey)?.operator.operatorId,
  }),
  refreshSession,
  usePasskeysOn: () => useQuery(aboutQuery).data?.passkeys === true,
}
