import { Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { isKind, kindOf } from '../objects.ts'
import { Loaded } from '../parts/loaded.tsx'
import { About, Body, JweSummary, Touched, Why } from '../parts/logged-request.tsx'
import { Id, IdLink } from '../parts/object-link.tsx'
import { Page } from '../parts/page.tsx'
import { HttpStatus } from '../parts/status-badge.tsx'

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
            {request.jwe && <JweSummary jwe={request.jwe} />}
            <Touched request={request} pageOf={(kind, id) => (isKind(kind) ? kind : kindOf(id))}>
              <Text size="xs" c="dimmed" mt="xs">
                In the service’s log: search for <Code>{request.requestId}</Code>
              </Text>
            </Touched>
            <About
              request={request}
              tenant={
                request.tenantId ? (
                  <IdLink id={request.tenantId} short={false} />
                ) : (
                  'No tenant was authenticated'
                )
              }
            />
            <Body request={request} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
