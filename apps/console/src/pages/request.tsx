import { Alert, Anchor, Box, Code, Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { isKind, kindLabel } from '../objects.ts'
import { Copy } from '../parts/copy.tsx'
import { WarningIcon } from '../parts/icons.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Id, IdLink, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Prose } from '../parts/prose.tsx'
import { HttpStatus, Mark } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'

type Detail = Schemas['LoggedRequestDetail']

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
            <Touched request={request} />
            <About request={request} />
            <Body request={request} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Why it failed: what the caller received, what it means, and what the caller does about it. */
function Why({ request: { error, description, help, status } }: { readonly request: Detail }) {
  return (
    <Alert
      color={status >= 500 ? 'red' : 'orange'}
      icon={<WarningIcon />}
      title={`Why did this fail? ${help?.description ?? error}`}
      component="section"
      aria-label="Why did this fail?"
    >
      <Stack gap={6}>
        {description && description !== help?.description && (
          <Text size="sm">
            The caller received: <b>{description}</b>
          </Text>
        )}
        {help && (
          <Text size="sm">
            What helps: <Prose text={help.remedy} />
          </Text>
        )}
        <Group gap="sm">
          <Code>{error}</Code>
          {help && (
            <Anchor href={help.href} target="_blank" rel="noreferrer" size="sm" c="inherit" td="underline">
              About this error
            </Anchor>
          )}
        </Group>
      </Stack>
    </Alert>
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
        <Anchor href="/docs/guides/replay-a-failure" target="_blank" rel="noreferrer" size="sm">
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

function JweSummary({ jwe }: { readonly jwe: Schemas['LoggedJwe'] }) {
  return (
    <Section
      title="Encryption of the body"
      aside={<Mark color={jwe.opened ? 'teal' : 'red'}>{jwe.opened ? 'Opened' : 'Not opened'}</Mark>}
    >
      <Facts
        facts={[
          { label: 'Key (kid)', value: jwe.kid && <Code>{jwe.kid}</Code> },
          { label: 'Algorithm (alg)', value: jwe.alg },
          { label: 'Content (enc)', value: jwe.enc },
          ...(jwe.failedCheck
            ? [
                { label: 'Check that failed', value: <Code>{jwe.failedCheck}</Code> },
                { label: 'Which means', value: jwe.explanation },
              ]
            : []),
        ]}
      />
    </Section>
  )
}

function Touched({ request: { objects, requestId } }: { readonly request: Detail }) {
  return (
    <Section title="What it touched">
      {objects.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing: it was refused before it reached anything, or it named nothing.
        </Text>
      ) : (
        <List size="sm" listStyleType="none">
          {objects.map(({ kind, id }) => (
            <List.Item key={`${kind}:${id}`}>
              <Text span inherit c="dimmed">
                {kindLabel(kind)}{' '}
              </Text>
              {isKind(kind) ? (
                <ObjectLink kind={kind} id={id}>
                  {id}
                </ObjectLink>
              ) : (
                <IdLink id={id} short={false} />
              )}
            </List.Item>
          ))}
        </List>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        In the service’s log: search for <Code>{requestId}</Code>
      </Text>
    </Section>
  )
}

function About({ request }: { readonly request: Detail }) {
  const { at, method, path, durationMs, tenantId, address, bodyBytes, kind, traceId } = request
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'When', value: <Instant at={at} long /> },
          {
            label: 'What was asked',
            value: (
              <Code>
                {method} {path}
              </Code>
            ),
          },
          {
            label: 'Tenant',
            value: tenantId ? <IdLink id={tenantId} short={false} /> : 'No tenant was authenticated',
          },
          { label: 'Took', value: `${durationMs.toFixed(1)} ms` },
          { label: 'From', value: address },
          { label: 'Trace', value: traceId && <Id id={traceId} what="trace id" /> },
          { label: 'Kind', value: kind === 'command' ? 'Command' : 'Read' },
          {
            label: 'Body',
            value: bodyBytes === undefined ? undefined : `${bodyBytes.toLocaleString('en-IN')} bytes`,
          },
        ]}
      />
    </Section>
  )
}

function Body({ request: { body } }: { readonly request: Detail }) {
  if (body === undefined || body === null) return undefined
  return (
    <Section title="Body, personal data masked">
      <Box
        component="pre"
        m={0}
        fz="sm"
        ff="monospace"
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {JSON.stringify(body, undefined, 2)}
      </Box>
    </Section>
  )
}
