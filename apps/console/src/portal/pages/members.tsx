import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { InviteMember, type MemberActions, MemberList } from '../../parts/member-list.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { api } from '../api.ts'
import { changed, useMember } from '../session.ts'

/** Does it, and shows the list as it is then. */
async function then<Result>(work: Promise<Result>): Promise<Result> {
  const result = await work
  await changed('members')
  return result
}

const inPath = (memberId: string) => ({ params: { path: { memberId } } })
const ACTIONS: MemberActions = {
  invite: (body) => then(responseOf(api.POST('/members', { body }))),
  change: (memberId, body) =>
    then(responseOf(api.PATCH('/members/{memberId}', { ...inPath(memberId), body }))),
  renew: (memberId) =>
    then(responseOf(api.POST('/members/{memberId}/link', { ...inPath(memberId), body: {} }))),
  resetSecondFactor: (memberId) =>
    then(responseOf(api.DELETE('/members/{memberId}/second-factor', inPath(memberId)))),
}

export function Members() {
  const { can, memberId } = useMember()
  const members = useQuery({
    queryKey: ['members'],
    queryFn: () => responseOf(api.GET('/members', { params: { query: { limit: 500 } } })),
  })
  const actions = can('admin') ? ACTIONS : undefined
  return (
    <Page
      title="Members"
      lead="Who of your company may use this portal."
      actions={actions && <InviteMember invite={actions.invite} />}
    >
      <Section title="People">
        <Loaded query={members}>
          {({ data }) => <MemberList members={data} actions={actions} self={memberId} />}
        </Loaded>
      </Section>
    </Page>
  )
}
