import { useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { once } from '../form-key.ts'
import { queryClient, useSession } from '../session.ts'
import { type CredentialActions, CredentialList } from './credential-list.tsx'
import { EmptyState } from './empty-state.tsx'
import { Loaded } from './loaded.tsx'

const actionsOf = (tenantId: string, showsSecrets: boolean): CredentialActions => {
  const then = async <Result,>(work: Promise<Result>): Promise<Result> => {
    const result = await work
    await queryClient.invalidateQueries({ queryKey: ['credentials', tenantId] })
    return result
  }
  const issuing: CredentialActions['issuing'] = {
    issue: (body, key) =>
      then(
        responseOf(
          api.POST('/tenants/{tenantId}/credentials', {
            params: { path: { tenantId }, header: once(key) },
            body,
          }),
        ),
      ),
    roll: (credentialId, { hours }, key) =>
      then(
        responseOf(
          api.POST('/tenants/{tenantId}/credentials/{credentialId}/roll', {
            params: { path: { tenantId, credentialId }, header: once(key) },
            body: { hours },
          }),
        ),
      ),
  }
  return {
    issuing: showsSecrets ? issuing : undefined,
    limit: (credentialId, body) =>
      then(
        responseOf(
          api.PUT('/tenants/{tenantId}/credentials/{credentialId}/limits', {
            params: { path: { tenantId, credentialId } },
            body,
          }),
        ),
      ),
    revoke: (credentialId) =>
      then(
        responseOf(
          api.DELETE('/tenants/{tenantId}/credentials/{credentialId}', {
            params: { path: { tenantId, credentialId } },
          }),
        ),
      ),
  }
}

/** With what the programs of a merchant or partner get tokens. */
export function TenantCredentials({ tenantId }: { readonly tenantId: string }) {
  const { can, mode } = useSession()
  const showsSecrets = mode === 'sandbox'
  const isMerchant = tenantId.startsWith('mer_')
  const query = useQuery({
    queryKey: ['credentials', tenantId],
    queryFn: () => responseOf(api.GET('/tenants/{tenantId}/credentials', { params: { path: { tenantId } } })),
  })
  return (
    <Loaded query={query}>
      {({ data, availableScopes }) => (
        <CredentialList
          what={isMerchant ? 'API key' : 'OAuth client'}
          credentials={data}
          scopes={availableScopes}
          actions={can('operations') ? actionsOf(tenantId, showsSecrets) : undefined}
          empty={
            <EmptyState title="None">
              Without one the tenant gets no token.{!showsSecrets && ' Hand the first one over by a link.'}
            </EmptyState>
          }
        />
      )}
    </Loaded>
  )
}
