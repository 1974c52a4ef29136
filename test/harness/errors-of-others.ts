type Exceptions = Readonly<Record<string, { readonly why: string; readonly codes: readonly string[] }>>

/** Codes with which functions of an operation fail for other callers or other steps only. */
export const OF_OTHERS: Exceptions = {
  acceptDispute: { why: 'when an operator assigns a notice', codes: ['notice_not_in_quarantine'] },
  acceptPayment: {
    why: 'when an operator assigns a notice',
    codes: ['notice_not_in_quarantine', 'utr_conflict'],
  },
  createCompany: { why: 'the partner is the caller', codes: ['partner_not_found'] },
  createQrCode: { why: 'a merchant whose token is valid exists', codes: ['invalid_token'] },
  receiveNetworkSettlement: { why: 'it goes to quarantine', codes: ['settlement_batch_differs'] },
  receiveSettlement: { why: 'it goes to quarantine', codes: ['settlement_batch_differs'] },
  receiveDispute: {
    why: 'when an operator assigns a notice',
    codes: ['notice_not_applied', 'notice_not_in_quarantine'],
  },
  sandboxAdvanceClock: {
    why: 'what is due exists and is open, and follows no notice; a user in use stays',
    codes: [
      'card_not_found',
      'business_day_not_over',
      'dispute_closed',
      'dispute_not_found',
      'notice_not_in_quarantine',
      'user_in_use',
      'user_not_found',
    ],
  },
  sandboxPay: { why: 'the refund was just found', codes: ['refund_not_found'] },
  sandboxPayOut: {
    why: 'the payout was just prepared, by another, before the day is over',
    codes: [
      'business_day_not_over',
      'payout_not_found',
      'payout_same_person',
      'payout_state',
      'utr_conflict',
    ],
  },
  'console.assignRailNotice': { why: 'a merchant of another cell is not found here', codes: ['moved'] },
  'console.acceptDispute': { why: 'it follows no notice', codes: ['notice_not_in_quarantine'] },
  'console.sendEvidence': { why: 'it records no receipt', codes: ['evidence_not_sent'] },
  'console.approvePayout': { why: 'of those that the bank paid', codes: ['utr_conflict'] },
  'console.approvePosting': {
    why: 'orders of cards never wait, and a payout is approved as one',
    codes: ['company_not_found', 'moved', 'order_reference_in_use', 'payout_same_person', 'user_not_found'],
  },
  'console.cancelPayout': {
    why: 'of approvals, and of those that the bank paid',
    codes: ['payout_same_person', 'utr_conflict'],
  },
  'console.closeTenant': {
    why: 'it revokes the credentials that it found, and issues none',
    codes: ['credential_not_found', 'tenant_closing'],
  },
  'console.completePayout': { why: 'of approvals', codes: ['payout_same_person'] },
  'console.createMerchant': { why: 'it was just created', codes: ['tenant_closing'] },
  'console.createPartner': { why: 'it was just created', codes: ['tenant_closing'] },
  'console.createQrCode': { why: 'the merchant was found', codes: ['invalid_token'] },
  'console.deactivateCoinConfig': { why: 'it names no revision', codes: ['revision_mismatch'] },
  'console.limitCredential': { why: 'it issues none', codes: ['tenant_closing'] },
  'console.payQrCode': { why: 'the refund was just found', codes: ['refund_not_found'] },
  'console.rejectPosting': { why: 'of approvals', codes: ['approval_same_person'] },
  'console.returnPayment': { why: 'it goes to no merchant', codes: ['merchant_not_found'] },
  'console.revokeCredential': { why: 'it issues none', codes: ['tenant_closing'] },
  'console.showCredentials': { why: 'it issues none', codes: ['tenant_closing'] },
  'console.tryAllocation': {
    why: 'the outcome `WOULD_REFUSE` has them',
    codes: ['coin_daily_limit_reached', 'company_not_found', 'no_coin_config', 'request_id_conflict'],
  },
  'console.updateCoinConfig': { why: 'the body has the revision', codes: ['revision_required'] },
  'console.voidCoinAllocation': { why: 'its ids are its own', codes: ['request_id_conflict'] },
  'portal.limitCredential': { why: 'it issues none', codes: ['tenant_closing'] },
  'portal.listCredentials': { why: 'it issues none', codes: ['tenant_closing'] },
  'portal.revokeCredential': { why: 'it issues none', codes: ['tenant_closing'] },
  'portal.showOverview': { why: 'it issues none', codes: ['tenant_closing'] },
}
