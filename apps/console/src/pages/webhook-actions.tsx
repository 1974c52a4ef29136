import { Select } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Replay, type ReplayCalls, ResendFailed } from '../parts/replay-events.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { queryClient, useSession } from '../session.ts'
import { webhooksChanged } from './webhook-changes.ts'
import { ChangeWebhook, LOST_SECRET } from './webhook-form.tsx'

interface Props {
  readonly endpoint: Schemas['WebhookEndpoint']
}

export function WebhookActions({ endpoint }: Props) {
  const { can, mode } = useSession()
  const resend = endpoint.enabled && can('support') && <ResendFailed endpoint={endpoint} calls={CALLS} />
  if (!can('operations')) return resend
  return (
    <>
      {resend}
      <ChangeWebhook endpoint={endpoint} />
      {mode === 'sandbox' && <Rotate endpoint={endpoint} />}
      {endpoint.enabled && <Replay endpoint={endpoint} calls={CALLS} />}
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

const CALLS: ReplayCalls = {
  replay: (endpointId, body, key) =>
    responseOf(
      api.POST('/webhooks/{endpointId}/replay', {
        params: { path: { endpointId }, header: once(key) },
        body,
      }),
    ),
  changed: webhooksChanged,
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
