import { Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { dayOf, instantOf, minuteOf, startOfDay } from '../business-day.ts'
import { type FormKey, partOf } from '../form-key.ts'
import { useSession } from '../session.ts'
import { FormDialog, needed } from './form-dialog.tsx'
import { count } from './money.tsx'

interface Range {
  readonly from: string
  readonly to: string
  readonly failedOnly?: boolean
  readonly after?: number
}

/** How an application sends events of a time to an endpoint again. */
export interface ReplayCalls {
  readonly replay: (
    endpointId: string,
    range: Range,
    key: FormKey,
  ) => Promise<{ readonly queued: number; readonly next?: number; readonly more: boolean }>
  readonly changed: () => Promise<unknown>
}

interface Props {
  readonly endpoint: { readonly endpointId: string; readonly url: string }
  readonly calls: ReplayCalls
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** What the endpoint did not take since the day before: after it was mended. */
export function ResendFailed({ endpoint: { endpointId, url }, calls }: Props) {
  const { timeZone } = useSession()
  const yesterday = dayOf(new Date().toISOString(), timeZone, -1)
  return (
    <FormDialog
      label="Resend failed"
      send="Send them again"
      variant="default"
      initial={{ day: yesterday, to: new Date(Date.now() + MINUTE_MS).toISOString() }}
      rules={{ day: needed }}
      fields={(form) => (
        <>
          <Text size="sm">
            Sends every event again that <b>{url}</b> was sent and has not taken, of this day and since.
          </Text>
          <TextInput type="date" label="Since" {...form.getInputProps('day')} />
        </>
      )}
      submit={async ({ day, to }, key) => {
        const range = { from: startOfDay(day, timeZone), to, failedOnly: true }
        const queued = await replay(calls, endpointId, range, key)
        const message = queued === 0 ? 'Nothing of that time failed.' : `${count(queued)} on their way.`
        notifications.show({ color: 'teal', message })
        await calls.changed()
      }}
    />
  )
}

export function Replay({ endpoint: { endpointId }, calls }: Props) {
  const { timeZone } = useSession()
  const nowMs = Date.now()
  return (
    <FormDialog
      label="Replay"
      send="Send it again"
      variant="default"
      initial={{
        from: minuteOf(new Date(nowMs - DAY_MS), timeZone),
        to: minuteOf(new Date(nowMs + MINUTE_MS), timeZone),
      }}
      rules={{
        from: needed,
        // Minutes in one zone compare as texts do.
        to: (to: string, { from }: { from: string }) => (to > from ? null : 'Must be later than the begin'),
      }}
      fields={(form) => (
        <>
          <Text size="sm">
            Sends what happened in this time once more, as far as the endpoint is sent it. What it has had
            before it can recognize it by the <code>webhook-id</code>. New events do not wait for it.
          </Text>
          <TextInput
            type="datetime-local"
            label="From"
            description={`Time in ${timeZone}`}
            {...form.getInputProps('from')}
          />
          <TextInput type="datetime-local" label="Until" {...form.getInputProps('to')} />
        </>
      )}
      submit={async ({ from, to }, key) => {
        const range = { from: instantOf(from, timeZone), to: instantOf(to, timeZone) }
        const queued = await replay(calls, endpointId, range, key)
        notifications.show({
          color: 'teal',
          message:
            queued === 0
              ? 'Nothing that it is sent happened in that time.'
              : `${count(queued)} on their way.`,
        })
        await calls.changed()
      }}
    />
  )
}

/** The service takes a bounded number at a time. */
async function replay(
  calls: ReplayCalls,
  endpointId: string,
  { from, to, failedOnly = false }: Range,
  key: FormKey,
): Promise<number> {
  let all = 0
  for (let after: number | undefined; ; ) {
    const part = after === undefined ? key : partOf(key, after)
    const body = { from, to, failedOnly, ...(after !== undefined && { after }) }
    const { queued, next, more } = await calls.replay(endpointId, body, part)
    all += queued
    if (!more) return all
    after = next
  }
}
