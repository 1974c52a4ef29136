import { Alert, Anchor, Box, Code, Group, List, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../api.ts'
import { type Kind, kindLabel } from '../objects.ts'
import { WarningIcon } from './icons.tsx'
import { Instant } from './instant.tsx'
import { Id, ObjectLink } from './object-link.tsx'
import { Facts, Section } from './page.tsx'
import { Prose } from './prose.tsx'
import { Mark } from './status-badge.tsx'

/** As operators see it; of their own, tenants see the same but for what only operators ask. */
type LoggedRequest = Omit<Schemas['LoggedRequestDetail'], 'kind' | 'tenantId'> & {
  readonly kind?: 'command' | 'read'
}

/** Why it failed: what the caller received, what it means, and what the caller does about it. */
export function Why({ request: { error, description, help, status } }: { readonly request: LoggedRequest }) {
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

export function JweSummary({ jwe }: { readonly jwe: NonNullable<LoggedRequest['jwe']> }) {
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

/** An id in full, with a link where there is a page. */
function Ref({ kind, id }: { readonly kind: Kind | undefined; readonly id: string }) {
  if (kind)
    return (
      <ObjectLink kind={kind} id={id}>
        {id}
      </ObjectLink>
    )
  return (
    <Text span inherit ff="monospace" fz="0.9em" style={{ overflowWrap: 'anywhere' }}>
      {id}
    </Text>
  )
}

interface TouchedProps {
  readonly request: LoggedRequest
  /** Of which kind a thing is, if the application has a page of such. */
  readonly pageOf: (kind: string, id: string) => Kind | undefined
  readonly children?: ReactNode
}

export function Touched({ request: { objects }, pageOf, children }: TouchedProps) {
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
              <Ref kind={pageOf(kind, id)} id={id} />
            </List.Item>
          ))}
        </List>
      )}
      {children}
    </Section>
  )
}

/** `tenant`: whose it is, where that is not known anyway. */
export function About({ request, tenant }: { readonly request: LoggedRequest; readonly tenant?: ReactNode }) {
  const { receivedOn, method, path, durationMs, address, bodyBytes, kind, traceId } = request
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'When', value: <Instant at={receivedOn} long /> },
          {
            label: 'What was asked',
            value: (
              <Code>
                {method} {path}
              </Code>
            ),
          },
          ...(tenant === undefined ? [] : [{ label: 'Tenant', value: tenant }]),
          { label: 'Took', value: `${durationMs.toFixed(1)} ms` },
          { label: 'From', value: address },
          { label: 'Trace', value: traceId && <Id id={traceId} what="trace id" /> },
          ...(kind ? [{ label: 'Kind', value: kind === 'command' ? 'Command' : 'Read' }] : []),
          {
            label: 'Body',
            value: bodyBytes === undefined ? undefined : `${bodyBytes.toLocaleString('en-IN')} bytes`,
          },
        ]}
      />
    </Section>
  )
}

export function Body({ request: { body } }: { readonly request: LoggedRequest }) {
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
