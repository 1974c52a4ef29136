import { Text, TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { NoticeField } from '../parts/notice-field.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { ObjectLink } from '../parts/object-link.tsx'
import { queryClient, useSession } from '../session.ts'

interface OfRefund {
  readonly refund: Schemas['Refund']
}

/** What the bank says of a refund that it has not confirmed, or had reported as failed; recorded by those who may move money. */
export function RefundActions({ refund }: OfRefund) {
  const { can } = useSession()
  const isOpen = refund.status === 'PENDING' || refund.status === 'SENT'
  if (!can('finance') || refund.status === 'REFUNDED') return undefined
  return (
    <>
      <MarkPaid refund={refund} />
      {isOpen && <MarkFailed refund={refund} />}
    </>
  )
}

type Outcome = { utr: string; reason: string; noticeId: string }
const EMPTY: Outcome = { utr: '', reason: '', noticeId: '' }

async function record(
  { refundId }: OfRefund['refund'],
  status: 'REFUNDED' | 'FAILED',
  outcome: Outcome,
): Promise<void> {
  const [utr, reason, noticeId] = [outcome.utr.trim(), outcome.reason.trim(), outcome.noticeId.trim()]
  const body = { status, ...(utr && { utr }), ...(reason && { reason }), ...(noticeId && { noticeId }) }
  const completed = await responseOf(
    api.POST('/refunds/{refundId}/complete', { params: { path: { refundId } }, body }),
  )
  if ('approvalId' in completed) notifyWaiting(completed.amount)
  for (const key of ['refunds', 'payments', 'notices', 'ledger', 'approvals'])
    await queryClient.invalidateQueries({ queryKey: [key] })
}

function Repaid({ refund: { amount, paymentId } }: OfRefund) {
  const inFigures = amount.toFixed(2)
  return (
    <Text size="sm">
      <b>{rupees(inFigures)}</b> (<AmountInWords amount={inFigures} />) of the payment{' '}
      <ObjectLink kind="payment" id={paymentId} inText />.
    </Text>
  )
}

function MarkPaid({ refund }: OfRefund) {
  return (
    <FormDialog
      label="Mark as refunded"
      send="Record as refunded"
      variant="default"
      initial={EMPTY}
      rules={{
        utr: (value: string) =>
          value.trim().length >= 6 ? null : 'The bank’s reference: at least 6 characters',
      }}
      fields={(form) => (
        <>
          <Repaid refund={refund} />
          <TextInput
            label="UTR"
            description="The bank’s own reference of this refund"
            maxLength={64}
            required
            data-autofocus
            {...form.getInputProps('utr')}
          />
          <NoticeField {...form.getInputProps('noticeId')} />
        </>
      )}
      submit={(outcome) => record(refund, 'REFUNDED', outcome)}
    />
  )
}

function MarkFailed({ refund }: OfRefund) {
  return (
    <FormDialog
      label="Mark as failed"
      send="Record as failed"
      variant="default"
      initial={EMPTY}
      rules={{ reason: needed }}
      fields={(form) => (
        <>
          <Repaid refund={refund} />
          <Text size="sm">It is payable to the merchant again.</Text>
          <TextInput
            label="Reason"
            description="Why the bank could not make it; the merchant sees it"
            maxLength={255}
            required
            data-autofocus
            {...form.getInputProps('reason')}
          />
          <NoticeField {...form.getInputProps('noticeId')} />
        </>
      )}
      submit={(outcome) => record(refund, 'FAILED', outcome)}
    />
  )
}
