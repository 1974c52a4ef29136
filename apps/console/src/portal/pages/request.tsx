import { Box, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { responseOf } from '../../api.ts'
import { CopyWide } from '../../parts/copy.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { About, Body, JweSummary, Touched, Why } from '../../parts/logged-request.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { HttpStatus } from '../../parts/status-badge.tsx'
import { sentenceCase } from '../../words.ts'
import { api, type Schemas } from '../api.ts'
import { pageOf } from '../kinds.ts'

type Detail = Schemas['OwnRequest']

/** One request of the tenant's programs: why it failed, and what helps. */
export function Request() {
  const { requestId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['requests', requestId],
    queryFn: () => responseOf(api.GET('/requests/{requestId}', { params: { path: { requestId } } })),
  })
  return (
    <Page
      title={query.data ? sentenceCase(query.data.operation) : 'Request'}
      badge={query.data && <HttpStatus status={query.data.status} />}
      lead={<Id id={requestId} what="request id" />}
      trail={[{ to: '/requests', label: 'Requests' }]}
    >
      <Loaded query={query}>
        {(request) => (
          <>
            {request.error && <Why request={request} />}
            <Since request={request} />
            {request.jwe && <JweSummary jwe={request.jwe} />}
            <Body request={request} />
            <Response request={request} />
            <Again request={request} />
            <Touched request={request} pageOf={(_, id) => pageOf(id)} />
            <About request={request} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Whether the same works by now. */
function Since({ request: { receivedOn, error, lastSuccessOn } }: { readonly request: Detail }) {
  if (!error) return undefined
  return (
    <Section title="Does it work otherwise?">
      <Text size="sm">
        {lastSuccessOn ? (
          <>
            The same operation last succeeded <Instant at={lastSuccessOn} />,{' '}
            {lastSuccessOn > receivedOn ? 'after this request.' : 'before this request.'}
          </>
        ) : (
          'The same operation has not succeeded as far back as the log goes.'
        )}
      </Text>
    </Section>
  )
}

/** Of failures alone: their responses follow from the error, while those of successes are not kept. */
function Response({ request: { description, error, requestId, status } }: { readonly request: Detail }) {
  return (
    <Section title="Response">
      {error ? (
        <Source
          text={`HTTP ${status}\nx-request-id: ${requestId}\n\n${JSON.stringify({ error, error_description: description }, undefined, 2)}`}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Status {status}. Bodies of successful responses are not kept.
        </Text>
      )}
    </Section>
  )
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The request for a shell, without what the log does not keep. */
function curlOf({ body, jwe, method, path }: Detail): string {
  const lines = [
    `curl -X ${method} ${quoted(`${window.location.origin}${path}`)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(body === undefined || body === null || jwe
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

function Again({ request }: { readonly request: Detail }) {
  const text = curlOf(request)
  return (
    <Section title="Send it again" aside={<CopyWide text={text} what="command" />}>
      <Source text={text} />
      <Text size="xs" c="dimmed" mt="xs">
        Put an access token into $TOKEN, and your own values where the log masks them.
        {request.jwe && ' The body is encrypted by your program: it is not kept.'} Query parameters are not
        kept.
      </Text>
    </Section>
  )
}

const Source = ({ text }: { readonly text: string }) => (
  <Box
    component="pre"
    m={0}
    fz="sm"
    ff="monospace"
    style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
  >
    {text}
  </Box>
)
