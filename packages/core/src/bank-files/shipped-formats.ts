import type { FileFormat } from './file-format.ts'

/** Our own settlement file: with three columns, or with the lines of whole transfers of the bank. */
const SVC: FileFormat = {
  columns: {
    reference: ['utr', 'reference'],
    amount: 'amount',
    date: 'date',
    kind: 'kind',
    batchUtr: 'batchUtr',
    valueDate: 'valueDate',
    netAmount: 'netAmount',
    note: 'note',
  },
  optional: ['kind', 'batchUtr', 'valueDate', 'netAmount', 'note'],
}

/** `recon/combined` of Razorpay: amounts in paise, times since 1970; `fee` contains `tax`. */
const RAZORPAY: FileFormat = {
  columns: {
    reference: ['rrn', 'entity_id'],
    amount: 'amount',
    date: 'settled_at',
    kind: 'type',
    batchUtr: ['settlement_utr', 'settlement_id'],
  },
  unit: 'paise',
  sign: 'by-kind',
  kinds: {
    payment: ['payment'],
    refund: ['refund'],
    dispute: ['dispute', 'chargeback'],
    dispute_reversal: ['dispute_reversal', 'chargeback_reversal'],
  },
  expand: [
    { kind: 'charge', column: 'fee', less: 'tax' },
    { kind: 'charge_gst', column: 'tax' },
  ],
  check: { payment: 'credit - debit = amount - fee' },
}

/** The settlement reconciliation of Cashfree. */
const CASHFREE: FileFormat = {
  columns: {
    reference: 'payment_utr',
    amount: 'event_amount',
    date: 'settlement_date',
    kind: 'event_type',
    sign: 'sale_type',
    batchUtr: 'settlement_utr',
  },
  sign: 'by-column',
  signs: { credit: ['CREDIT'], debit: ['DEBIT'] },
  kinds: {
    payment: ['PAYMENT'],
    refund: ['REFUND'],
    dispute: ['CHARGEBACK', 'DISPUTE'],
    dispute_reversal: ['CHARGEBACK_REVERSE', 'DISPUTE_REVERSE'],
    adjustment: ['OTHER_ADJUSTMENT', 'REFUND_REVERSE'],
  },
  expand: [
    { kind: 'charge', column: 'payment_service_charge' },
    { kind: 'charge_gst', column: 'payment_service_tax' },
  ],
}

/** The settlement report of PhonePe, whose charges are below zero. */
const PHONEPE: FileFormat = {
  columns: {
    reference: 'PhonePeReferenceId',
    amount: 'Amount',
    date: 'SettlementDate',
    kind: 'PaymentType',
    batchUtr: 'BankReferenceNo',
  },
  // Within a state it is CGST and SGST, otherwise IGST.
  optional: ['IGST', 'CGST', 'SGST'],
  sign: 'by-kind',
  kinds: {
    payment: ['PAYMENT', 'FORWARD'],
    refund: ['REFUND', 'BACKWARD', 'REVERSAL'],
    dispute: ['CHARGEBACK'],
    dispute_reversal: ['CHARGEBACK_REVERSAL'],
    adjustment: ['ADJUSTMENT', 'RECOVERY'],
  },
  expand: [
    { kind: 'charge', column: 'Fee', sign: 'as-written' },
    { kind: 'charge_gst', column: 'IGST', sign: 'as-written' },
    { kind: 'charge_gst', column: 'CGST', sign: 'as-written' },
    { kind: 'charge_gst', column: 'SGST', sign: 'as-written' },
  ],
}

/** The settlement detail of Paytm, whose refunds are above zero. */
const PAYTM: FileFormat = {
  columns: {
    reference: ['rrn', 'bankTransactionId', 'transactionId'],
    amount: 'amount',
    date: ['settledDate', 'payoutDate', 'updatedDate'],
    kind: 'transactionType',
    batchUtr: ['utr', 'payoutId'],
  },
  optional: ['batchUtr'],
  sign: 'by-kind',
  kinds: {
    payment: ['ACQUIRING'],
    refund: ['REFUND'],
    dispute: ['CHARGEBACK'],
    dispute_reversal: ['CHARGEBACK_REVERSAL'],
    adjustment: ['REPAYMENT'],
  },
  expand: [
    { kind: 'charge', column: 'commission' },
    { kind: 'charge_gst', column: 'gst' },
  ],
}

/** By the name that `--format` accepts. */
export const SETTLEMENT_FORMATS: Readonly<Record<string, FileFormat>> = {
  svc: SVC,
  razorpay: RAZORPAY,
  cashfree: CASHFREE,
  phonepe: PHONEPE,
  paytm: PAYTM,
}
