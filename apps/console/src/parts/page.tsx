import { Anchor, Box, Breadcrumbs, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { APP } from '../app.ts'

/** The way back: the pages above this one. */
export type PageTrail = readonly { readonly to: string; readonly label: string }[]

interface PageProps {
  readonly title: string
  /** Shown beside the title: a status. */
  readonly badge?: ReactNode
  /** One sentence on what the page shows. */
  readonly lead?: ReactNode
  readonly trail?: PageTrail
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** Heading, way back and actions of a page. */
export function Page({ title, badge, lead, trail, actions, children }: PageProps) {
  useDocumentTitle(`${title} · svc ${APP}`)
  return (
    <Stack gap="md">
      {trail && (
        <Breadcrumbs component="nav" aria-label="Way back" separatorMargin={6}>
          {trail.map(({ to, label }) => (
            <Anchor key={to} component={Link} to={to} size="sm">
              {label}
            </Anchor>
          ))}
          <Text size="sm" c="dimmed" truncate maw="60vw" lh={1.5} aria-current="page">
            {title}
          </Text>
        </Breadcrumbs>
      )}
      <Group justify="space-between" align="start" gap="sm">
        <Box style={{ minWidth: 0 }}>
          <Group gap="sm">
            <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {badge}
          </Group>
          {lead && (
            <Text c="dimmed" mt={2} component="div">
              {lead}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

interface SectionProps {
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
}

export function Section({ title, aside, children }: SectionProps) {
  return (
    <Paper withBorder p="md" component="section">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Paper>
  )
}

export interface Fact {
  readonly label: string
  readonly value: ReactNode
}

/** Names and values in columns; a value that is not there shows as a dash. */
export function Facts({ facts, cols = 3 }: { readonly facts: readonly Fact[]; readonly cols?: number }) {
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 1, xs: 2, md: cols }} spacing="md" verticalSpacing="sm">
      {facts.map(({ label, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Box component="dd" m={0} fz="sm" style={{ overflowWrap: 'anywhere' }}>
            {value === '' || value === null || value === undefined || value === false ? (
              <Text span inherit c="dimmed">
                –
              </Text>
            ) : (
              value
            )}
          </Box>
        </div>
      ))}
    </SimpleGrid>
  )
}
