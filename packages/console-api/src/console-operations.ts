import type { Operation } from '@svc/server/http/operation'
import type { ConsoleServices } from './console-services.ts'
import { exportOf } from './csv.ts'
import { adjustPaymentInConsole } from './faces/adjust-payment.ts'
import * as alerts from './faces/alert-operations.ts'
import * as approvals from './faces/approval-operations.ts'
import * as credits from './faces/bank-credit-operations.ts'
import * as bankFiles from './faces/bank-file-operations.ts'
import * as bankHolidays from './faces/bank-holiday-operations.ts'
import * as bankRuns from './faces/bank-run-operations.ts'
import * as bankStatements from './faces/bank-statement-operations.ts'
import * as bookMonths from './faces/book-month-operations.ts'
import * as accountMoney from './faces/card-account-money.ts'
import * as accounts from './faces/card-account-operations.ts'
import * as cardChanges from './faces/card-change-operations.ts'
import * as cardEnds from './faces/card-end-operations.ts'
import * as cardExceptions from './faces/card-exception-operations.ts'
import * as cards from './faces/card-operations.ts'
import * as cardsInSandbox from './faces/card-sandbox-operations.ts'
import { listCardTransactionsInConsole } from './faces/card-transaction-operations.ts'
import * as changeRequests from './faces/change-request-operations.ts'
import * as closing from './faces/closing-operations.ts'
import * as coinAllocations from './faces/coin-allocation-operations.ts'
import * as coinChanges from './faces/coin-change-operations.ts'
import * as coins from './faces/coin-operations.ts'
import * as companies from './faces/company-operations.ts'
import * as credentials from './faces/credential-operations.ts'
import * as ofMerchant from './faces/dispute-of-merchant.ts'
import * as disputes from './faces/dispute-operations.ts'
import * as events from './faces/event-operations.ts'
import { showFigures } from './faces/figure-operations.ts'
import * as fundsProofs from './faces/funds-proof-operations.ts'
import * as handovers from './faces/handover-operations.ts'
import * as home from './faces/home-operations.ts'
import { issueCardInConsole } from './faces/issue-card.ts'
import * as journals from './faces/journal-operations.ts'
import * as ledger from './faces/ledger-operations.ts'
import { loadCardInConsole, unloadCardInConsole } from './faces/load-card.ts'
import * as members from './faces/member-operations.ts'
import * as merchants from './faces/merchant-operations.ts'
import { showMerchantSetUp } from './faces/merchant-set-up.ts'
import { showNames } from './faces/names.ts'
import * as notices from './faces/notice-operations.ts'
import * as overview from './faces/overview-operations.ts'
import * as ownFunds from './faces/own-funds-operations.ts'
import * as partners from './faces/partner-operations.ts'
import * as payments from './faces/payment-operations.ts'
import * as payoutLists from './faces/payout-lists.ts'
import * as payouts from './faces/payout-operations.ts'
import * as payoutTerms from './faces/payout-terms-operations.ts'
import * as qrCodes from './faces/qr-code-operations.ts'
import * as recordSettings from './faces/record-setting-operations.ts'
import * as refunds from './faces/refund-operations.ts'
import { refundPaymentInConsole } from './faces/refund-payment.ts'
import * as requests from './faces/request-operations.ts'
import { searchEverything } from './faces/search.ts'
import { showSetUp } from './faces/set-up-operations.ts'
import { listSettings } from './faces/settings-operations.ts'
import { settleLedgerAccount } from './faces/settle-account.ts'
import * as settlements from './faces/settlement-operations.ts'
import { showCatalogue } from './faces/show-catalogue.ts'
import * as spendRules from './faces/spend-rule-operations.ts'
import * as statementLines from './faces/statement-line-operations.ts'
import * as statements from './faces/statement-operations.ts'
import { showStatus } from './faces/status-operations.ts'
import { showSuspenseCandidates } from './faces/suspense-candidates.ts'
import * as suspense from './faces/suspense-operations.ts'
import * as taxDocuments from './faces/tax-document-operations.ts'
import * as taxNotes from './faces/tax-note-operations.ts'
import * as taxRegistrations from './faces/tax-registration-operations.ts'
import { exportTrialBalance, showTrialBalance, showTrialBalancePdf } from './faces/trial-balance.ts'
import * as users from './faces/user-operations.ts'
import * as webhookChanges from './faces/webhook-changes.ts'
import * as webhooks from './faces/webhook-operations.ts'
import * as accessRequests from './identity/access-request-operations.ts'
import { endOperatorSession, listOperatorSessions } from './identity/all-session-operations.ts'
import { CONSOLE_FACE } from './identity/console-face.ts'
import * as invitations from './identity/invitation-operations.ts'
import * as oidc from './identity/oidc-operations.ts'
import * as operators from './identity/operator-operations.ts'
import { ownAccount } from './identity/own-account.ts'
import * as session from './identity/sign-in-operations.ts'
import * as waysToSignIn from './identity/ways-to-sign-in.ts'
import * as audit from './records/audit-operations.ts'
import { showHistory } from './records/object-history.ts'
import { withMaskedPersons } from './records/personal-data.ts'
import { revealPersonalData } from './records/reveals.ts'

const UNMASKED: readonly Operation<ConsoleServices>[] = [
  ...ownAccount(CONSOLE_FACE),
  session.signIn,
  session.signInToSandbox,
  oidc.startSingleSignOn,
  oidc.finishSingleSignOn,
  overview.showOverview,
  showFigures,
  home.showWaiting,
  home.showMovers,
  showStatus,
  alerts.listAlertsInConsole,
  alerts.acknowledgeAlertByOperator,
  merchants.listMerchants,
  merchants.showMerchant,
  merchants.createMerchantInConsole,
  merchants.changeMerchant,
  merchants.editMerchant,
  merchants.linkMerchantInConsole,
  payoutTerms.showPayoutTerms,
  payoutTerms.setBankAccount,
  payoutTerms.setFee,
  payoutTerms.setPayoutScheduleInConsole,
  partners.listPartnersInConsole,
  partners.showPartner,
  partners.createPartnerInConsole,
  partners.changePartner,
  showSetUp,
  showMerchantSetUp,
  partners.issueJweKey,
  partners.registerJweKey,
  partners.retireJweKeyInConsole,
  companies.listCompaniesInConsole,
  companies.showCompany,
  companies.createCompanyInConsole,
  companies.updateCompanyInConsole,
  accounts.listCardAccountsInConsole,
  accounts.showCardAccount,
  accounts.createCardAccountInConsole,
  accounts.updateCardAccountInConsole,
  recordSettings.showRecordSettings,
  recordSettings.updateRecordSettingsInConsole,
  accountMoney.fundCardAccountInConsole,
  accountMoney.withdrawFromCardAccountInConsole,
  credits.showFundingInstructions,
  credits.listBankCredits,
  issueCardInConsole,
  loadCardInConsole,
  unloadCardInConsole,
  users.listUsersInConsole,
  users.showUser,
  users.createUserInConsole,
  users.eraseUserInConsole,
  qrCodes.listQrCodes,
  qrCodes.showQrCode,
  qrCodes.createQrCodeInConsole,
  qrCodes.cancelQrCodeInConsole,
  qrCodes.payQrCodeInConsole,
  payments.listPaymentsInConsole,
  payments.sumPayments,
  payments.showPayment,
  refunds.listRefundsInConsole,
  refunds.showRefund,
  refunds.completeRefundByOperator,
  refundPaymentInConsole,
  adjustPaymentInConsole,
  disputes.listDisputesInConsole,
  disputes.showDispute,
  ofMerchant.uploadAttachmentInConsole,
  ofMerchant.submitEvidenceInConsole,
  ofMerchant.acceptDisputeInConsole,
  disputes.downloadAttachmentInConsole,
  disputes.downloadEvidence,
  disputes.sendEvidenceInConsole,
  disputes.recordReceipt,
  disputes.requestEvidenceInConsole,
  disputes.closeDisputeByOperator,
  showSuspenseCandidates,
  suspense.assignPayment,
  suspense.unassignPayment,
  suspense.returnPayment,
  suspense.confirmReturnByOperator,
  bankFiles.recognizeBankFile,
  bankFiles.showExpectedFiles,
  bankFiles.listBankFiles,
  bankFiles.showBankFileContent,
  bankRuns.showBankRuns,
  bankRuns.sendBankRun,
  bankRuns.exportBankRun,
  bankRuns.readBankResponses,
  bankRuns.importBankResponses,
  bankStatements.listBankAccountsInConsole,
  bankStatements.createBankAccountInConsole,
  bankHolidays.showBankHolidays,
  bankHolidays.removeBankHolidayInConsole,
  settlements.listSettlementsInConsole,
  settlements.showSettlementInConsole,
  settlements.listSettlementLinesInConsole,
  settlements.listOpenSettlementLinesInConsole,
  settlements.readSettlementInConsole,
  settlements.importSettlementInConsole,
  settlements.reverseSettlementInConsole,
  bankStatements.readStatementInConsole,
  bankStatements.importStatementInConsole,
  bankStatements.listStatementLinesInConsole,
  statementLines.showMatchCandidates,
  statementLines.matchStatementLine,
  statementLines.unmatchStatementLine,
  statementLines.assignStatementLine,
  statementLines.resolveStatementLine,
  fundsProofs.listFundsProofs,
  fundsProofs.showFundsProof,
  fundsProofs.exportFundsProof,
  ownFunds.moveOwnFundsInConsole,
  ownFunds.takeBackOwnFundsInConsole,
  ownFunds.showYearEnd,
  ownFunds.enterYearEndInConsole,
  bookMonths.showBookMonths,
  bookMonths.checkBookMonth,
  bookMonths.closeBookMonth,
  bookMonths.accrueBookMonth,
  bookMonths.verifyBookMonths,
  bookMonths.showSignedBookMonth,
  bookMonths.exportBookMonth,
  bookMonths.listPriorPeriodItems,
  taxDocuments.listTaxDocumentsInConsole,
  taxDocuments.showTaxDocument,
  taxDocuments.issueTaxDocuments,
  taxNotes.issueCreditNoteInConsole,
  taxNotes.issueDebitNoteInConsole,
  taxNotes.enterTdsCertificateInConsole,
  taxRegistrations.showTaxRegistration,
  taxRegistrations.setTaxRegistrationInConsole,
  taxDocuments.showTaxDocumentPdf,
  taxDocuments.showTaxReturn,
  approvals.listApprovalsInConsole,
  approvals.approvePostingInConsole,
  approvals.rejectPosting,
  changeRequests.listChangeRequests,
  changeRequests.approveChangeRequest,
  changeRequests.rejectChangeRequest,
  payoutLists.listPayoutsInConsole,
  payoutLists.sumPayouts,
  payoutLists.showPayout,
  payoutLists.listPayoutLinesInConsole,
  statements.showPayoutStatement,
  statements.showCardAccountStatement,
  payouts.runPayouts,
  payouts.preparePayoutInConsole,
  payouts.approvePayout,
  payouts.cancelPayout,
  payouts.completePayout,
  notices.listNotices,
  notices.showNotice,
  notices.assignNotice,
  notices.dismissNoticeByOperator,
  notices.reopenNoticeByOperator,
  cards.listCards,
  cards.showCard,
  listCardTransactionsInConsole,
  spendRules.listSpendRulesInConsole,
  spendRules.showSpendRule,
  spendRules.createSpendRuleInConsole,
  spendRules.removeSpendRuleInConsole,
  spendRules.backtestSpendRulesInConsole,
  cardChanges.changeCardStatusInConsole,
  cardChanges.activateCardInConsole,
  cardChanges.setCardKycInConsole,
  cardChanges.setCardFlagsInConsole,
  cardEnds.replaceCardInConsole,
  cardEnds.returnCardInConsole,
  cardEnds.listCardReturns,
  cardEnds.reverseCardReturn,
  cardsInSandbox.spendFromCard,
  cardsInSandbox.refundToCard,
  cardExceptions.listCardExceptions,
  cardExceptions.showCardException,
  coins.listCoinConfigs,
  coins.showCoinConfig,
  coinChanges.createCoinConfigInConsole,
  coinChanges.updateCoinConfigInConsole,
  coinChanges.deactivateCoinConfigInConsole,
  coins.tryAllocation,
  coins.showUserCoins,
  coinAllocations.voidCoinAllocationInConsole,
  coinAllocations.showCoinLiability,
  ledger.listLedgerAccounts,
  ledger.showLedgerAccount,
  settleLedgerAccount,
  ledger.listTransfers,
  journals.showJournal,
  journals.reverseJournalInConsole,
  showTrialBalance,
  exportTrialBalance,
  showTrialBalancePdf,
  ledger.showReconciliation,
  ledger.runReconciliation,
  requests.listRequests,
  requests.showRequestLog,
  requests.showRequest,
  events.listEventsInConsole,
  events.showEvent,
  webhooks.listWebhooks,
  webhooks.showWebhook,
  webhooks.listWebhookAttemptsInConsole,
  webhooks.showWebhookEvent,
  webhookChanges.createWebhook,
  webhookChanges.changeWebhook,
  webhookChanges.rotateWebhookSecretInConsole,
  webhookChanges.resendWebhook,
  webhookChanges.replayWebhook,
  webhookChanges.deleteWebhook,
  audit.listAudit,
  audit.showAuditVerification,
  audit.runAuditVerification,
  showHistory,
  searchEverything,
  showNames,
  showCatalogue,
  listSettings,
  operators.listOperators,
  operators.changeOperator,
  listOperatorSessions,
  endOperatorSession,
  accessRequests.listAccessRequestsInConsole,
  accessRequests.approveAccessRequest,
  accessRequests.rejectAccessRequest,
  waysToSignIn.removeOperatorPasskeys,
  waysToSignIn.resetSecondFactor,
  waysToSignIn.unlinkOperator,
  credentials.showCredentials,
  credentials.issueCredentialInConsole,
  credentials.limitCredentialInConsole,
  credentials.rollCredentialInConsole,
  credentials.revokeCredentialInConsole,
  handovers.showHandovers,
  handovers.handOverCredentials,
  closing.showClosing,
  closing.listTenantClosings,
  closing.closeTenant,
  members.listMembers,
  ...Object.values(members.tenantMembers),
  invitations.listInvitations,
  invitations.inviteOperator,
  invitations.linkOperator,
  invitations.revokeInvitation,
  invitations.showInvitation,
  invitations.acceptInvitation,
  revealPersonalData,
]

const OPERATIONS = UNMASKED.map(withMaskedPersons)

const isList = ({ id }: Operation<ConsoleServices>): boolean => /\.list[A-Z]/.test(id)

/** Every operation of the console's own API, apart from the integrators': each list is also an export as CSV. */
export const CONSOLE_OPERATIONS: readonly Operation<ConsoleServices>[] = [
  ...OPERATIONS,
  ...OPERATIONS.filter(isList).map((list) => exportOf(list)),
]
