import { Select, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { dayOf, instantOf, minuteOf, startOfDay } from '../business-day.ts'
import { type FormKey, once, partOf } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { count } from '../parts/money.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { queryClient, useSession } from '../session.ts'
import { webhooksChanged } from './webhook-changes.ts'
import { ChangeWebhook, LOST_SECRET } from './webhook-form.tsx'

interface Props {
  readonly endpoint: Schemas['WebhookEndpoint']
}

export function WebhookActions({ endpoint }: Props) {
  const { can, mode } = useSession()
  const resend = endpoint.enabled && can('support') && <ResendFailed endpoint={endpoint} />
  if (!can('operations')) return resend
  return (
    <>
      {resend}
      <ChangeWebhook endpoint={endpoint} />
      {mode === 'sandbox' && <Rotate endpoint={endpoint} />}
      {endpoint.enabled && <Replay endpoint={endpoint} />}
      <Switch endpoint={endpoint} />
      <Delete endpoint={endpoint} />
    </>
  )
}

const HOUR_SECONDS = 3_600
const GRACE = [
  { value: String(24 * HOUR_SECONDS), label: 'For a day' },
  { value: String(HOUR_SECONDS), label: 'For an hour' },
  { value: String(7 * 24 * HOUR_SECONDS), label: 'For a week' },
  { value: '0', label: 'Not at all: it has leaked' },
]

function Rotate({ endpoint: { endpointId } }: Props) {
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <FormDialog
        label="Rotate secret"
        send="Make a new secret"
        variant="default"
        initial={{ graceSeconds: GRACE[0]!.value }}
        fields={(form) => (
          <Select
            label="How long the previous secret goes on signing beside it"
            description="Until then a receiver that knows either of them can verify what it gets"
            data={GRACE}
            allowDeselect={false}
            {...form.getInputProps('graceSeconds')}
          />
        )}
        submit={async ({ graceSeconds }, key) => {
          const rotated = await responseOf(
            api.POST('/webhooks/{endpointId}/rotate-secret', {
              params: { path: { endpointId }, header: once(key) },
              body: { graceSeconds: Number(graceSeconds) },
            }),
          )
          setSecret(rotated.secret)
          await webhooksChanged()
        }}
      />
      <SecretOnce
        what="Signing secret"
        secret={secret}
        lost={LOST_SECRET}
        onDone={() => setSecret(undefined)}
      />
    </>
  )
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** What the endpoint did not take since the day before: after it was mended. */
function ResendFailed({ endpoint: { endpointId, url } }: Props) {
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
        const queued = await replay(endpointId, range, key)
        const message = queued === 0 ? 'Nothing of that time failed.' : `${count(queued)} on their way.`
        notifications.show({ color: 'teal', message })
        await webhooksChanged()
      }}
    />
  )
}

function Replay({ endpoint: { endpointId } }: Props) {
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
        const queued = await replay(endpointId, range, key)
        notifications.show({
          color: 'teal',
          message:
            queued === 0
              ? 'Nothing that it is sent happened in that time.'
              : `${count(queued)} on their way.`,
        })
        await webhooksChanged()
      }}
    />
  )
}

interface Range {
  readonly from: string
  readonly to: string
  readonly failedOnly?: boolean
}

/** The service takes a bounded number at a time. */
async function replay(
  endpointId: string,
  { from, to, failedOnly = false }: Range,
  key: FormKey,
): Promise<number> {
  let all = 0
  for (let after: number | undefined; ; ) {
    const { queued, next, more } = await responseOf(
      api.POST('/webhooks/{endpointId}/replay', {
        params: { path: { endpointId }, header: once(after === undefined ? key : partOf(key, after)) },
        body: { from, to, failedOnly, ...(after !== undefined && { after }) },
      }),
    )
    all += queued
    if (!more) return all
    after = next
  }
}

function Switch({ endpoint: { endpointId, enabled, url } }: Props) {
  const set = async (body: { enabled: boolean }, key: FormKey) => {
    await responseOf(
      api.PATCH('/webhooks/{endpointId}', { params: { path: { endpointId }, header: once(key) }, body }),
    )
    await webhooksChanged()
  }
  return enabled ? (
    <ConfirmAction
      label="Disable"
      confirm="Disable webhook"
      danger
      run={(_, key) => set({ enabled: false }, key)}
    >
      Nothing more is sent to <b>{url}</b>. What happens meanwhile is not kept for it: when it is enabled
      again, replay the time in between.
    </ConfirmAction>
  ) : (
    <ConfirmAction label="Enable" confirm="Enable webhook" run={(_, key) => set({ enabled: true }, key)}>
      From now on events are sent to <b>{url}</b>. What it has missed is not: replay it afterwards.
    </ConfirmAction>
  )
}

function Delete({ endpoint: { endpointId, url } }: Props) {
  const navigate = useNavigate()
  return (
    <ConfirmAction
      label="Delete"
      confirm="Delete for good"
      danger
      typed={new URL(url).host}
      run={async (_, key) => {
        await responseOf(
          api.DELETE('/webhooks/{endpointId}', { params: { path: { endpointId }, header: once(key) } }),
        )
        await navigate({ to: '/webhooks' })
        queryClient.removeQueries({ queryKey: ['webhooks', endpointId] })
        await queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] })
      }}
    >
      Deletes <b>{url}</b> with its secrets, its attempts and what was still to be sent to it. This cannot be
      undone; to stop it for a while, disable it.
    </ConfirmAction>
  )
}
