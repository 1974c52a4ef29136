import { Button, Modal, Stack, Text } from '@mantine/core'
import { EVENTS } from '@svc/contract/events'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Kind, kindLabel, kindOf } from '../objects.ts'
import { sentenceCase } from '../words.ts'
import type { Column } from './data-table.tsx'
import { CREATED_AT, type Filter } from './filters.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { count } from './money.tsx'
import { Id, ObjectLink } from './object-link.tsx'
import { Facts } from './page.tsx'
import { Written } from './written.tsx'

/** An event without its data. */
export interface EventRow {
  readonly eventId: string
  readonly sequence: number
  readonly type: string
  readonly objectId: string
  readonly createdOn: string
}

/** `payment.refund_failed` as `Payment: refund failed`. */
const typeLabel = (type: string): string => {
  const [object = '', what = ''] = type.split('.')
  return `${sentenceCase(object)}: ${what.replaceAll('_', ' ')}`
}

interface EventsOf {
  /** What an event says, as its receivers get it. */
  readonly load: (event: EventRow) => Promise<object | undefined>
  /** The page that an object has, here. */
  readonly pageOf?: (id: string) => Kind | undefined
}

export const eventColumns = ({ load, pageOf = kindOf }: EventsOf): readonly Column<EventRow>[] => [
  { title: 'No.', align: 'right', cell: ({ sequence }) => count(sequence) },
  {
    title: 'What happened',
    cell: ({ type }) => (
      <>
        {typeLabel(type)}
        <Text size="xs" c="dimmed">
          {type}
        </Text>
      </>
    ),
  },
  { title: 'To', cell: ({ objectId }) => <About id={objectId} kind={pageOf(objectId)} /> },
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: '', align: 'right', cell: (event) => <Show event={event} load={load} /> },
]

/** What happened to, by its kind and the end of its id. */
function About({ id, kind }: { readonly id: string; readonly kind: Kind | undefined }) {
  const known = kindOf(id)
  const name = `${known ? kindLabel(known) : 'Record'} …${id.slice(-6)}`
  return kind ? (
    <ObjectLink kind={kind} id={id}>
      {name}
    </ObjectLink>
  ) : (
    <span title={id}>{name}</span>
  )
}

export const EVENT_FILTERS: readonly Filter[] = [
  {
    name: 'type',
    label: 'What happened',
    kind: 'select',
    options: Object.keys(EVENTS).map((type) => ({ value: type, label: typeLabel(type) })),
  },
  ...CREATED_AT,
]

function Show({ event, load }: Pick<EventsOf, 'load'> & { readonly event: EventRow }) {
  const [opened, setOpened] = useState(false)
  const name = `event No. ${count(event.sequence)}`
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpened(true)} aria-label={`Show ${name}`}>
        Show
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title={`What is sent: ${name}`} size="xl">
        <Sent event={event} load={load} />
      </Modal>
    </>
  )
}

function Sent({ event, load }: Pick<EventsOf, 'load'> & { readonly event: EventRow }) {
  const { eventId, createdOn } = event
  const sent = useQuery({ queryKey: ['event', eventId], queryFn: () => load(event), staleTime: Infinity })
  return (
    <Stack>
      <Facts
        cols={2}
        facts={[
          { label: 'Event id', value: <Id id={eventId} what="event id" /> },
          { label: 'When', value: <Instant at={createdOn} long /> },
        ]}
      />
      <Loaded query={sent}>
        {(body) => <Written title="Body">{JSON.stringify(body, undefined, 2)}</Written>}
      </Loaded>
    </Stack>
  )
}
