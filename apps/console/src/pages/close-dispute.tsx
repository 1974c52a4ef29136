import { Select, Text } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { NoticeField } from '../parts/notice-field.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient } from '../session.ts'

type Row = Schemas['DisputeRow']
type Outcome = 'WON' | 'LOST'

/** One that was lost because no evidence came in time may still be won. */
function outcomesOf({ status, evidenceOn }: Row): readonly Outcome[] {
  if (status === 'OPEN' || status === 'EVIDENCE_SUBMITTED') return ['WON', 'LOST']
  return status === 'LOST' && evidenceOn === undefined ? ['WON'] : []
}

const LABELS = {
  WON: 'Won: the amount is payable to the merchant again',
  LOST: 'Lost: the bank keeps it for the payer',
}

/** Records what the network decided of a dispute; nothing where it is decided for good. */
export function CloseDispute({ dispute }: { readonly dispute: Row }) {
  const outcomes = outcomesOf(dispute)
  const [only] = outcomes
  if (only === undefined) return undefined
  const amount = dispute.amount.toFixed(2)
  return (
    <FormDialog
      label={`Close ${dispute.caseReference}`}
      compact="Close"
      send="Record the decision"
      variant="default"
      initial={{ outcome: outcomes.length === 1 ? only : null, noticeId: '' } as Decision}
      rules={{ outcome: needed }}
      fields={(form) => (
        <>
          <Text size="sm">
            <b>{rupees(amount)}</b> (<AmountInWords amount={amount} />) of {dispute.merchantName}.
          </Text>
          <Select
            label="The network’s decision"
            data={outcomes.map((value) => ({ value, label: LABELS[value] }))}
            required
            {...form.getInputProps('outcome')}
          />
          <NoticeField {...form.getInputProps('noticeId')} />
        </>
      )}
      submit={async ({ outcome, noticeId }) => {
        const notice = noticeId.trim()
        const ended = await responseOf(
          api.POST('/disputes/{disputeId}/close', {
            params: { path: { disputeId: dispute.disputeId } },
            body: { outcome: outcome!, ...(notice && { noticeId: notice }) },
          }),
        )
        if ('approvalId' in ended) notifyWaiting(ended.amount)
        for (const key of ['disputes', 'payments', 'notices', 'ledger', 'approvals'])
          await queryClient.invalidateQueries({ queryKey: [key] })
      }}
    />
  )
}

type Decision = { outcome: Outcome | null; noticeId: string }
