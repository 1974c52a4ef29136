import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { reportWaiting } from '../pages/access-requests.tsx'
import { queryClient, useSession } from '../session.ts'
import { Loaded } from './loaded.tsx'
import { InviteMember, type MemberActions, MemberList } from './member-list.tsx'
import { Section } from './page.tsx'

const actionsOf = (tenantId: string): MemberActions => {
  const path = { tenantId }
  const then = async <Result extends { readonly approvalId?: string }>(
    work: Promise<Result>,
  ): Promise<Result> => {
    const result = await work
    await reportWaiting(result)
    await queryClient.invalidateQueries({ queryKey: ['members', tenantId] })
    return result
  }
  return {
    invite: (body) => then(responseOf(api.POST('/tenants/{tenantId}/members', { params: { path }, body }))),
    change: (memberId, body) =>
      then(
        responseOf(
          api.PATCH('/tenants/{tenantId}/members/{memberId}', {
            params: { path: { ...path, memberId } },
            body,
          }),
        ),
      ),
    renew: (memberId) =>
      then(
        responseOf(
          api.POST('/tenants/{tenantId}/members/{memberId}/link', {
            params: { path: { ...path, memberId } },
            body: {},
          }),
        ),
      ),
    resetSecondFactor: (memberId) =>
      then(
        responseOf(
          api.DELETE('/tenants/{tenantId}/members/{memberId}/second-factor', {
            params: { path: { ...path, memberId } },
          }),
        ),
      ),
  }
}

/** Who may use the portal for a merchant or partner. */
export function TenantMembers({ tenantId }: { readonly tenantId: string }) {
  const { can } = useSession()
  const members = useQuery({
    queryKey: ['members', tenantId],
    queryFn: () =>
      responseOf(
        api.GET('/tenants/{tenantId}/members', { params: { path: { tenantId }, query: { limit: 500 } } }),
      ),
  })
  const actions = can('operations') ? actionsOf(tenantId) : undefined
  return (
    <Section title="Portal members" aside={actions && <InviteMember invite={actions.invite} />}>
      <Loaded query={members}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">None yet. An invited person sees at /portal what is the tenant’s.</Text>
          ) : (
            <MemberList members={data} actions={actions} />
          )
        }
      </Loaded>
    </Section>
  )
}
