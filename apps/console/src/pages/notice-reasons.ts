import type { Schemas } from '../api.ts'

type Notice = Schemas['NoticeRecord']

interface Meaning {
  readonly title: string
  readonly toDo: string
}

const ENTER = 'Read the body, ask the bank if necessary, then enter the payment that it reports.'

/** Why a notice is in quarantine, and what to do about it (decision Q11). */
export const NOTICE_REASONS: Readonly<Record<NonNullable<Notice['reason']>, Meaning>> = {
  not_json: { title: 'Not JSON, or a field twice', toDo: ENTER },
  wrong_route: {
    title: 'Sent to the wrong address',
    toDo: 'A notice of another kind, or one that came to another address before. If the bank sent it there too, dismiss it here. Otherwise ask the bank to send it to the address of its kind, and find out who sent it here: its signature is right.',
  },
  not_a_credit: {
    title: 'Not a credit',
    toDo: 'The bank reports something else, or that no money came. Read it; if it reports no payment, dismiss it. What comes again and again can be ignored by the settings of the bank’s adapter.',
  },
  unknown_bank: {
    title: 'Unknown bank',
    toDo: 'The address that the bank sends to names a bank that is not in the settings: correct the one or the other, then enter the payment that the notice reports.',
  },
  ignored: {
    title: 'Ignored by the settings',
    toDo: 'Nothing: the settings of the bank’s adapter say that notices like it need no work.',
  },
  not_in_rupees: {
    title: 'Not in rupees',
    toDo: 'The bank states another currency. Ask which amount in rupees it credited, then enter that payment; or let the bank return it.',
  },
  time_unreadable: {
    title: 'Time not readable',
    toDo: `Expiry and the books of a day follow the time of the bank. ${ENTER} If its times have another form, give its adapter a time format.`,
  },
  field_unreadable: { title: 'A field not readable', toDo: ENTER },
  reference_unreadable: { title: 'Reference not readable', toDo: ENTER },
  amount_unreadable: { title: 'Amount not readable', toDo: ENTER },
  contradicts_earlier_notice: {
    title: 'Contradicts an earlier notice',
    toDo: 'The payment with this reference has another amount, code, payer or time. The first notice counts: ask the bank which of the two is right.',
  },
  unknown_refund: {
    title: 'Unknown refund',
    toDo: 'No refund fits. Find the refund with the bank, then record its outcome on its page with the id of this notice.',
  },
  status_unreadable: {
    title: 'Status not readable',
    toDo: 'The notice does not say what became of the refund or dispute. Ask the bank, then record its outcome.',
  },
  unknown_dispute: {
    title: 'Unknown dispute',
    toDo: 'The outcome of a dispute that was not notified. Open the dispute first: carry out its first notice again where that is in quarantine too, or ask the bank for it. Then carry out this one again.',
  },
  unknown_payment: {
    title: 'Unknown payment',
    toDo: 'A dispute or a return of a credit that is not recorded. Ask the bank which credit it means. Once that is recorded, carry out a notice of a dispute again; record a return with this notice on the page of the credit.',
  },
  payment_accepted: {
    title: 'Accepted payment returned',
    toDo: 'The bank says that it returned a payment which is payable to its merchant. Ask the bank; if it did, it has to notify a dispute, by which the merchant hears of it. Then dismiss this notice.',
  },
  payment_not_accepted: {
    title: 'Payment not accepted',
    toDo: 'A dispute of a credit that is in suspense or goes back to its payer. If the credit was assigned to a merchant since, carry out this notice again. Otherwise contest it with the bank.',
  },
  unknown_virtual_account: {
    title: 'Unknown account number',
    toDo: 'No card account has this number. Ask the bank or the sender whose it is, then enter the money with this notice; or let the bank return it.',
  },
  partner_closed: {
    title: 'The partner is closed',
    toDo: 'Money for a card account of a partner that has left. Let the bank return it to its sender.',
  },
  contradicts_entry: {
    title: 'Entered otherwise before',
    toDo: 'An operator entered this reference for another card account or with another amount. Compare both with the bank statement; reverse the entry if it is wrong, then enter the money with this notice.',
  },
  dispute_over_payment: {
    title: 'More than is left of the payment',
    toDo: 'The payment was refunded or disputed before. If such a refund fails or such a dispute is won, carry out this notice again. Otherwise contest the dispute with the bank: the payer has the money.',
  },
}

const DONE = {
  title: 'Repeats an earlier notice',
  toDo: 'Nothing: the bank sent in other words what is recorded.',
}

/** What a notice is about, and what is to be done. */
export function meaningOf({ reason, status }: Notice): Meaning {
  if (status === 'IGNORED') return NOTICE_REASONS.ignored
  if (status === 'ASSIGNED')
    return { title: reason ? NOTICE_REASONS[reason].title : 'Assigned', toDo: 'Nothing: it is assigned.' }
  if (status === 'DISMISSED')
    return {
      title: reason ? NOTICE_REASONS[reason].title : 'Dismissed',
      toDo: 'Nothing: it is dismissed. If that was a mistake, reopen it.',
    }
  return reason ? NOTICE_REASONS[reason] : DONE
}
