import { Radio, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { pathOf } from '../objects.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { Picker } from '../parts/picker.tsx'
import { queryClient, useSession } from '../session.ts'

interface OfPayment {
  readonly row: Schemas['PaymentRow']
  /** Small buttons, for rows of a table. */
  readonly compact?: boolean
  /** No word of the bank names its merchant. */
  readonly toAny?: boolean
}

const changed = () => queryClient.invalidateQueries({ queryKey: ['payments'] })

/** What may be done with a credit that fits no QR code: it goes to a merchant, or back to its payer. */
export function SuspenseActions({ row, compact = false, toAny = false }: OfPayment) {
  const { can } = useSession()
  if (row.status !== 'SUSPENSE' || !can('finance')) return undefined
  return (
    <>
      <Assign row={row} compact={compact} toAny={toAny} />
      <Return row={row} compact={compact} />
    </>
  )
}

/** What a dialog is about. */
export function Credit({ row: payment }: OfPayment) {
  return (
    <Text size="sm" component="div">
      <b>{rupees(payment.amount)}</b> (<AmountInWords amount={payment.amount} />
      ), UTR {payment.utr}
      {payment.payerVpa && `, from ${payment.payerVpa}`}.
    </Text>
  )
}

function Assign({ row, compact, toAny }: OfPayment) {
  const isOpen = toAny || row.merchantName === undefined
  const { paymentId } = row
  const navigate = useNavigate()
  return (
    <FormDialog
      label="Assign to a merchant"
      send="Assign"
      variant="default"
      {...(compact && { compact: 'Assign' })}
      initial={{ merchantId: isOpen ? '' : row.merchantId, reason: '' }}
      rules={{ merchantId: needed, reason: needed }}
      fields={(form) => (
        <>
          <Credit row={row} />
          <Text size="sm">It becomes a payment of the merchant, who is paid for it.</Text>
          {isOpen ? (
            <WhoseItMayBe paymentId={paymentId} form={form} />
          ) : (
            <TextInput
              label="Merchant"
              description="The bank named this merchant; a credit of a merchant goes to no other"
              value={row.merchantName}
              readOnly
            />
          )}
          <TextInput
            label="Reason"
            description="Stored in the journal, for later questions"
            required
            maxLength={255}
            {...form.getInputProps('reason')}
          />
        </>
      )}
      submit={async ({ merchantId, reason }) => {
        const assigned = await responseOf(
          api.POST('/payments/{paymentId}/assign', {
            params: { path: { paymentId } },
            body: { merchantId, reason: reason.trim() },
          }),
        )
        await changed()
        // Out of the platform's suspense it has become another payment, which is the merchant's.
        if ('approvalId' in assigned) notifyWaiting(assigned.amount)
        else if (!compact) await navigate({ to: pathOf('payment', assigned.payment.paymentId) })
      }}
    />
  )
}

interface WhoseProps {
  readonly paymentId: string
  readonly form: UseFormReturnType<{ merchantId: string; reason: string }>
}

/** Who may have been meant, by amount, hour and payer, and everyone else by name. */
function WhoseItMayBe({ paymentId, form }: WhoseProps) {
  const { data } = useQuery({
    queryKey: ['payments', paymentId, 'candidates'],
    queryFn: () =>
      responseOf(api.GET('/payments/{paymentId}/candidates', { params: { path: { paymentId } } })),
  })
  const candidates = data?.data ?? []
  return (
    <>
      {candidates.length > 0 && (
        <Radio.Group label="It may be of" {...form.getInputProps('merchantId')}>
          <Stack gap={6} mt={4}>
            {candidates.map(({ createdOn, merchantId, merchantName, name, why }) => (
              <Radio
                key={merchantId}
                value={merchantId}
                label={merchantName}
                description={
                  <>
                    {why === 'amount' ? `Code ${name} of this amount, made` : `${name} of this payer,`}{' '}
                    <Instant at={createdOn} />
                  </>
                }
              />
            ))}
          </Stack>
        </Radio.Group>
      )}
      <Picker
        of="merchant"
        {...(candidates.length > 0 && { label: 'Or another merchant' })}
        required={candidates.length === 0}
        {...form.getInputProps('merchantId')}
      />
    </>
  )
}

/** Takes an assignment back: offered until the money is in a payout or was refunded. */
export function Unassign({ detail }: { readonly detail: Schemas['PaymentDetailInConsole'] }) {
  const { can } = useSession()
  const navigate = useNavigate()
  const { isAssigned, payoutId, paymentId, refundedAmount = 0 } = detail
  if (!isAssigned || payoutId !== undefined || refundedAmount > 0 || !can('finance')) return undefined
  return (
    <ConfirmAction
      label="Take the assignment back"
      confirm="Take it back"
      danger
      withReason
      run={async (reason) => {
        const path = { params: { path: { paymentId } } }
        const restored = await responseOf(
          api.POST('/payments/{paymentId}/unassign', { ...path, body: { reason } }),
        )
        await changed()
        if ('approvalId' in restored) notifyWaiting(restored.amount)
        else await navigate({ to: pathOf('payment', restored.payment.paymentId) })
      }}
    >
      <Credit row={detail} />
      <Text size="sm" mt="xs">
        It is no longer payable to the merchant, who is notified. It waits in suspense again, and can be
        assigned elsewhere.
      </Text>
    </ConfirmAction>
  )
}

function Return({ row, compact = false }: OfPayment) {
  const { paymentId } = row
  return (
    <ConfirmAction
      label={compact ? 'Return' : 'Return to the payer'}
      confirm="Return it"
      danger
      withReason
      compact={compact}
      run={async (reason) => {
        const path = { params: { path: { paymentId } } }
        const returned = await responseOf(
          api.POST('/payments/{paymentId}/return', { ...path, body: { reason } }),
        )
        if ('approvalId' in returned) notifyWaiting(returned.amount)
        await changed()
      }}
    >
      <Credit row={row} />
      <Text size="sm" mt="xs">
        The bank is to send it back. It stays “Refund pending” until the bank confirms, or you record that it
        did.
      </Text>
    </ConfirmAction>
  )
}
