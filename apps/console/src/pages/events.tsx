import { api, listAt, responseOf } from '../api.ts'
import { useListSearch } from '../list-search.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { EVENT_FILTERS, type EventRow, eventColumns } from '../parts/events.tsx'
import { List } from '../parts/list-page.tsx'
import { Page } from '../parts/page.tsx'
import { Picker } from '../parts/picker.tsx'

/** Events of one tenant: of all tenants together there is no order. */
export function Events() {
  const { search, filter } = useListSearch()
  const tenantId = search['tenantId']
  return (
    <Page
      title="Events"
      lead="What happened to a tenant’s records, as its webhooks and its feed say it. Personal data is masked."
    >
      <Picker
        of="tenant"
        maw={480}
        value={tenantId ?? null}
        onChange={(id) => filter({ tenantId: id ?? undefined })}
        clearable
      />
      {tenantId ? (
        <EventsOf key={tenantId} tenantId={tenantId} />
      ) : (
        <EmptyState title="Whose events?">Choose a merchant or a partner.</EmptyState>
      )}
    </Page>
  )
}

function EventsOf({ tenantId }: { readonly tenantId: string }) {
  const load = ({ eventId }: EventRow) =>
    responseOf(api.GET('/tenants/{tenantId}/events/{eventId}', { params: { path: { tenantId, eventId } } }))
  return (
    <List
      name="events"
      id={tenantId}
      caption="Events"
      load={listAt('/tenants/{tenantId}/events', { tenantId })}
      columns={eventColumns({ load })}
      rowKey={({ eventId }) => eventId}
      filters={EVENT_FILTERS}
      empty={<EmptyState title="No events yet">The first code, payment or card makes one.</EmptyState>}
    />
  )
}
