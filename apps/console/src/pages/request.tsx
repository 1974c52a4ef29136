import { Anchor, Code, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { isKind, kindOf } from '../objects.ts'
import { Copy } from '../parts/copy.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { About, Body, JweSummary, Touched, Why } from '../parts/logged-request.tsx'
import { Id, IdLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { HttpStatus } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'

export function Request() {
  const { requestId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['requests', requestId],
    queryFn: () => responseOf(api.GET('/requests/{requestId}', { params: { path: { requestId } } })),
  })
  return (
    <Page
      title={query.data?.operation ?? 'Request'}
      badge={query.data && <HttpStatus status={query.data.status} />}
      lead={<Id id={requestId} what="request id" />}
      trail={[{ to: '/requests', label: 'Requests' }]}
    >
      <Loaded query={query}>
        {(request) => (
          <>
            {request.error && <Why request={request} />}
            {request.error && <HandOver />}
            {request.jwe && <JweSummary jwe={request.jwe} />}
            <Touched request={request} pageOf={(kind, id) => (isKind(kind) ? kind : kindOf(id))}>
              <Text size="xs" c="dimmed" mt="xs">
                In the service’s log: search for <Code>{request.requestId}</Code>
              </Text>
            </Touched>
            <About
              request={request}
              tenant={request.tenantId ? <IdLink id={request.tenantId} /> : 'No tenant was authenticated'}
            />
            <Body request={request} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const RECORD = 'svc sandbox record bug.capsule'

/** In the sandbox: how another person can see the same failure. */
function HandOver() {
  if (useSession().mode !== 'sandbox') return null
  return (
    <Section title="Record this failure">
      <Text size="sm">
        Record the request in a capsule: run this command, send the request to the address that it prints,
        then press Ctrl-C. The file contains the data and the credentials of this sandbox, and{' '}
        <Code>svc sandbox replay</Code> shows the same responses anywhere.{' '}
        <Anchor
          href="/docs/guides/replay-a-failure"
          target="_blank"
          rel="noreferrer"
          underline="always"
          inherit
        >
          Record and replay a failure
        </Anchor>
      </Text>
      <Group gap="xs" mt="xs">
        <Code>{RECORD}</Code>
        <Copy text={RECORD} what="command" />
      </Group>
    </Section>
  )
}
