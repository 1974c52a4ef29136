import { EmptyState } from '../../parts/empty-state.tsx'
import { EVENT_FILTERS, type EventRow, eventColumns } from '../../parts/events.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { api, getOwnList, payloadOf } from '../api.ts'
import { pageOf } from '../kinds.ts'

/** The event itself, which the feed has after the number before it. */
async function load({ sequence }: EventRow): Promise<object | undefined> {
  const query = { after: sequence - 1, limit: 1 }
  const { data } = await payloadOf(api.GET('/events', { params: { query } }))
  return data[0]
}

const COLUMNS = eventColumns({ load, pageOf })

/** Events of the tenant, newest first. */
export function Events() {
  return (
    <ListPage
      title="Events"
      lead="Everything that happened to your records, as your webhooks and the feed of events say it."
      name="events"
      caption="Events"
      load={getOwnList<EventRow>('/recent-events')}
      columns={COLUMNS}
      rowKey={({ eventId }) => eventId}
      filters={EVENT_FILTERS}
      empty={<EmptyState title="No events yet">The first code, payment or card makes one.</EmptyState>}
    />
  )
}
