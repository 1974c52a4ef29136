import { NumberInput, Select, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../api.ts'
import { queryClient, useSession } from '../session.ts'
import { FormDialog } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'

const UNITS = { hours: 3_600, days: 86_400 } as const
type Unit = keyof typeof UNITS
/** The service takes no more in one request. */
const SECONDS_MAX = 400 * UNITS.days

interface Clock {
  readonly now: string
  readonly aheadSeconds: number
}

/** Sends to an operation of the sandbox's API, which needs no session. */
async function sandboxCall(path: string, body?: object): Promise<Clock> {
  const call = async () => {
    const response = await fetch(`/sandbox/tenants/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        accept: 'application/problem+json, application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const json = (await response.json()) as { payload: Clock }
    return { response, data: json.payload, error: json }
  }
  return responseOf(call())
}

/** By which all tenants live that are not ahead of it. */
const OF_ALL = 'house'

/** The test clock of a tenant of the sandbox, or of all; nothing in live mode. */
export function TestClock({ tenantId = OF_ALL }: { readonly tenantId?: string }) {
  return useSession().mode === 'sandbox' ? <OfSandbox tenantId={tenantId} /> : null
}

function OfSandbox({ tenantId }: { readonly tenantId: string }) {
  const { can } = useSession()
  const clock = useQuery({
    queryKey: ['test-clock', tenantId],
    queryFn: () => sandboxCall(`${tenantId}/clock`),
  })
  return (
    <Section title="Test clock" aside={can('operations') && <Advance tenantId={tenantId} />}>
      <Loaded query={clock}>
        {({ now, aheadSeconds }) => (
          <Text size="sm">
            It is <Instant at={now} />{' '}
            {tenantId === OF_ALL ? 'for all tenants that are not ahead of it' : 'for this tenant'}
            {aheadSeconds === 0 ? ', as for the service.' : `, ${ahead(aheadSeconds)} ahead of the service.`}
          </Text>
        )}
      </Loaded>
    </Section>
  )
}

function ahead(seconds: number): string {
  const hours = Math.round(seconds / UNITS.hours)
  const [days, rest] = [Math.floor(hours / 24), hours % 24]
  const parts = [days > 0 && `${days} d`, rest > 0 && `${rest} h`].filter(Boolean)
  return parts.join(' ') || `${seconds} s`
}

function Advance({ tenantId }: { readonly tenantId: string }) {
  return (
    <FormDialog<{ by: number | string; unit: Unit }>
      label="Advance the clock"
      send="Advance"
      variant="default"
      initial={{ by: 1, unit: 'days' }}
      rules={{
        by: (by: number | string, { unit }: { unit: Unit }) =>
          Number(by) >= 1 && Number(by) * UNITS[unit] <= SECONDS_MAX ? null : 'From 1 hour to 400 days',
      }}
      fields={(form) => (
        <>
          <Text size="sm">
            What time does happens before this ends: codes, holds and coins expire, with their events. A clock
            never goes back.
          </Text>
          <NumberInput label="By" min={1} allowDecimal={false} data-autofocus {...form.getInputProps('by')} />
          <Select
            label="Unit"
            data={Object.keys(UNITS)}
            allowDeselect={false}
            {...form.getInputProps('unit')}
          />
        </>
      )}
      submit={async ({ by, unit }) => {
        await sandboxCall(`${tenantId}/clock/advance`, { bySeconds: Number(by) * UNITS[unit] })
        notifications.show({ color: 'teal', message: 'Advanced. What was due by then has happened.' })
        await queryClient.invalidateQueries()
      }}
    />
  )
}
