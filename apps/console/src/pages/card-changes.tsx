import { Select, SimpleGrid, Switch, Text, TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

async function changed(): Promise<void> {
  for (const key of ['cards', 'history']) await queryClient.invalidateQueries({ queryKey: [key] })
}

function ReasonInput(props: object) {
  return (
    <TextInput
      label="Reason"
      description="Stored with the change, for later questions"
      maxLength={200}
      {...props}
    />
  )
}

const FLAGS = [
  ['posAllowed', 'Shop, by the holder'],
  ['posAllowedAdmin', 'Shop, by the admin'],
  ['atmAllowed', 'ATM, by the holder'],
  ['atmAllowedAdmin', 'ATM, by the admin'],
  ['onlineAllowed', 'Online, by the holder'],
  ['onlineAllowedAdmin', 'Online, by the admin'],
] as const

/** Where the card may be used. */
export function ChannelForm({ card }: { readonly card: Schemas['Card'] }) {
  const { can } = useSession()
  const { svcCardId } = card
  if (!can('support')) return undefined
  const before = Object.fromEntries(FLAGS.map(([flag]) => [flag, card[flag]]))
  return (
    <FormDialog
      label="Channels"
      send="Save"
      variant="default"
      initial={{ ...before, reason: '' } as Record<string, unknown> & { reason: string }}
      rules={{ reason: needed }}
      fields={(form) => (
        <>
          <Text size="sm">A channel works when holder and admin both allow it.</Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {FLAGS.map(([flag, label]) => (
              <Switch key={flag} label={label} {...form.getInputProps(flag, { type: 'checkbox' })} />
            ))}
          </SimpleGrid>
          <ReasonInput {...form.getInputProps('reason')} />
        </>
      )}
      submit={async ({ reason, ...wanted }, key) => {
        const flags = Object.fromEntries(Object.entries(wanted).filter(([flag, on]) => on !== before[flag]))
        if (Object.keys(flags).length === 0) return
        await responseOf(
          api.POST('/cards/{svcCardId}/flags', {
            params: { path: { svcCardId }, header: once(key) },
            body: { ...flags, reason: reason.trim() },
          }),
        )
        await changed()
      }}
    />
  )
}

/** A physical card that waits for its activation. */
export function ActivateCard({ card: { cardStatus, svcCardId } }: { readonly card: Schemas['Card'] }) {
  if (cardStatus.name !== 'AP') return undefined
  return (
    <ConfirmAction
      label="Activate"
      confirm="Activate card"
      withReason
      run={async (reason, key) => {
        await responseOf(
          api.POST('/cards/{svcCardId}/activate', {
            params: { path: { svcCardId }, header: once(key) },
            body: { reason },
          }),
        )
        await changed()
      }}
    >
      The physical card has arrived at its holder, and can be used from now on.
    </ConfirmAction>
  )
}

type KycStatus = Schemas['Card']['kycStatus']['name']

/** The next state of the KYC, along its table. */
export function KycForm({ detail: { card, kycMoves } }: { readonly detail: Schemas['CardDetail'] }) {
  const { can } = useSession()
  const { svcCardId } = card
  if (!can('operations') || kycMoves.length === 0) return undefined
  return (
    <FormDialog
      label="KYC"
      send="Save"
      variant="default"
      initial={{ kycStatus: '', reason: '' }}
      rules={{ kycStatus: needed, reason: needed }}
      fields={(form) => (
        <>
          <Text size="sm">It is {card.kycStatus.label} now.</Text>
          <Select
            label="Next state"
            data={kycMoves.map((value) => ({ value, label: sentenceCase(value) }))}
            allowDeselect={false}
            {...form.getInputProps('kycStatus')}
          />
          <ReasonInput {...form.getInputProps('reason')} />
        </>
      )}
      submit={async ({ kycStatus, reason }, key) => {
        await responseOf(
          api.POST('/cards/{svcCardId}/kyc', {
            params: { path: { svcCardId }, header: once(key) },
            body: { kycStatus: kycStatus as KycStatus, reason: reason.trim() },
          }),
        )
        await changed()
      }}
    />
  )
}
