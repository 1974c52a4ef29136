import { Timeline as MantineTimeline, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Instant } from './instant.tsx'

export interface TimelineEntry {
  readonly at: string
  readonly title: ReactNode
  readonly detail?: ReactNode
  readonly color?: string | undefined
}

/** What happened to a thing, newest first. */
export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <Text c="dimmed">Nothing has happened yet.</Text>
  return (
    <MantineTimeline active={entries.length} bulletSize={16} lineWidth={2} role="list">
      {entries.map(({ at, title, detail, color }, index) => (
        <MantineTimeline.Item
          // Two things may happen in one millisecond; entries are never reordered.
          // oxlint-disable-next-line react/no-array-index-key
          key={`${at}-${index}`}
          role="listitem"
          {...(color && { color })}
          title={
            <Text span size="sm" fw={600}>
              {title}
            </Text>
          }
        >
          <Text size="xs" c="dimmed">
            <Instant at={at} long />
          </Text>
          {detail && (
            <Text size="sm" component="div" mt={2} style={{ overflowWrap: 'anywhere' }}>
              {detail}
            </Text>
          )}
        </MantineTimeline.Item>
      ))}
    </MantineTimeline>
  )
}
