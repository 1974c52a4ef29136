import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { PORTAL_OPERATIONS } from '@svc/console-api/portal/portal-operations'
import { isKeyed, mayChange, type Operation } from '@svc/server/http/operation'
import { expect, test } from 'vitest'
import { setsState } from '../../../apps/console/src/state-operations.ts'

/** POST operations without a key, by what keeps a repeat from creating something a second time. */
const WITHOUT_KEY: Readonly<Record<string, readonly string[]>> = {
  'the reference names the entry, and each is entered once': [
    'console.adjustPayment',
    'console.fundCardAccount',
    'console.settleLedgerAccount',
    'console.withdrawFromCardAccount',
    'console.importStatement',
    'console.importBankResponses',
    'console.importSettlement',
  ],
  'it moves one record to a state, where it stays': [
    'console.acknowledgeAlert',
    'console.accrueBookMonth',
    'console.approveAccessRequest',
    'console.approveChangeRequest',
    'console.approvePayout',
    'console.approvePosting',
    'console.assignPayment',
    'console.assignRailNotice',
    'console.assignStatementLine',
    'console.cancelPayout',
    'console.cancelQrCode',
    'console.closeBookMonth',
    'console.closeDispute',
    'console.closeTenant',
    'console.completePayout',
    'console.completeRefund',
    'console.confirmReturn',
    'console.dismissRailNotice',
    'console.eraseUser',
    'console.issueTaxDocuments',
    'console.matchStatementLine',
    'console.recordEvidenceReceipt',
    'console.rejectAccessRequest',
    'console.rejectChangeRequest',
    'console.rejectPosting',
    'console.reopenRailNotice',
    'console.requestEvidence',
    'console.returnPayment',
    'console.sendEvidence',
    'console.resolveStatementLine',
    'console.reverseJournal',
    'console.reverseSettlement',
    'console.setMerchantFee',
    'console.unassignPayment',
    'console.unmatchStatementLine',
  ],
  'what was sent is in one file for the bank': ['console.sendBankRun'],
  'a merchant has one payout for a business day': ['console.preparePayout', 'console.runPayouts'],
  'a name is taken once, and a new link replaces the previous one': [
    'console.linkOperator',
    'console.handOverCredentials',
    'console.inviteMember',
    'console.inviteOperator',
    'console.renewMemberLink',
    'portal.inviteMember',
    'portal.renewMemberLink',
  ],
  'the link works once': ['console.acceptInvitation', 'console.showInvitation', 'portal.useLink'],
  'it checks or shows, and creates nothing that stays': [
    'console.revealPersonalData',
    'console.runAuditVerification',
    'console.runReconciliation',
    'console.tryAllocation',
  ],
  'it is about the session and the factors of the person who asks': [
    'console.changeOwnPassword',
    'console.confirmSecondFactor',
    'console.finishSingleSignOn',
    'console.registerPasskey',
    'console.renewRecoveryCodes',
    'console.signIn',
    'console.signInToSandbox',
    'console.signInWithPasskey',
    'console.startPasskey',
    'console.startPasskeySignIn',
    'console.startSecondFactor',
    'console.startSingleSignOn',
    'console.stepUp',
    'portal.changeOwnPassword',
    'portal.confirmSecondFactor',
    'portal.registerPasskey',
    'portal.renewRecoveryCodes',
    'portal.signIn',
    'portal.signInToSandbox',
    'portal.signInWithPasskey',
    'portal.startPasskey',
    'portal.startPasskeySignIn',
    'portal.startSecondFactor',
    'portal.stepUp',
  ],
}

test('every POST of the console and the portal has the key of its form, unless a repeat creates nothing for another reason', () => {
  const operations = [...CONSOLE_OPERATIONS, ...PORTAL_OPERATIONS] as readonly Operation[]
  const unkeyed = operations.filter(
    (operation) => operation.method === 'POST' && mayChange(operation) && !isKeyed(operation),
  )
  expect(unkeyed.map(({ id }) => id).sort()).toEqual(Object.values(WITHOUT_KEY).flat().sort())
})

/** Operations with a key that set a state: their requests are often meant again, and a repeat creates nothing. */
const SET_A_STATE = [
  'cancelQrCode',
  'changeCardStatus',
  'console.changeCardStatus',
  'console.changeWebhook',
  'console.deactivateCoinConfig',
  'console.setCardFlags',
  'console.setCardKyc',
  'console.updateCardAccount',
  'console.updateCoinConfig',
  'console.updateCompany',
  'console.updateRecordSettings',
  'deactivateCoinConfig',
  'setCardFlags',
  'updateCardAccount',
  'updateCoinConfig',
  'updateCompany',
  'updateRecordSettings',
  'updateUser',
  'updateWebhookEndpoint',
]

/** Those of which a repeat would create, move, issue, send or delete something once more. */
const DO_SOMETHING = [
  'acceptDispute',
  'activateCard',
  'allocateCoins',
  'confirmCoinAllocation',
  'console.acceptDispute',
  'console.activateCard',
  'console.createCardAccount',
  'console.createCoinConfig',
  'console.createCompany',
  'console.createMerchant',
  'console.createPartner',
  'console.createQrCode',
  'console.createSpendRule',
  'console.createUser',
  'console.createWebhook',
  'console.deleteWebhook',
  'console.issueCard',
  'console.issueCredential',
  'console.issueEncryptionKey',
  'console.loadCard',
  'console.payQrCode',
  'console.refundPayment',
  'console.refundToCard',
  'console.registerEncryptionKey',
  'console.removeSpendRule',
  'console.replaceCard',
  'console.replayWebhook',
  'console.resendWebhook',
  'console.returnCard',
  'console.reverseCardReturn',
  'console.rollCredential',
  'console.rotateWebhookSecret',
  'console.spendFromCard',
  'console.submitEvidence',
  'console.unloadCard',
  'console.uploadAttachment',
  'console.voidCoinAllocation',
  'createCardAccount',
  'createCoinConfig',
  'createCompany',
  'createQrCode',
  'createRefund',
  'createSpendRule',
  'createUser',
  'createWebhookEndpoint',
  'deleteWebhookEndpoint',
  'eraseUser',
  'loadCard',
  'portal.issueCard',
  'portal.issueCredential',
  'portal.issueEncryptionKey',
  'portal.requestBankAccount',
  'portal.requestFee',
  'portal.requestPaymentAddress',
  'portal.rollCredential',
  'redeemCoins',
  'removeSpendRule',
  'replaceCard',
  'replayWebhookEvents',
  'resendWebhookEvent',
  'returnCard',
  'rotateWebhookSecret',
  'submitEvidence',
  'unloadCard',
  'uploadAttachment',
  'voidCoinAllocation',
]

test('a request with a key keeps it from one form to the next while its outcome is unknown, unless it only sets a state', () => {
  const keyed = ([...CONSOLE_OPERATIONS, ...PORTAL_OPERATIONS] as readonly Operation[]).filter(
    (operation) => mayChange(operation) && isKeyed(operation),
  )
  const idsOf = (sets: boolean) =>
    keyed
      .filter(({ method, path }) => {
        const pagePath = path.replace(/^\/(?:console|portal)\/api\/v0/, '').replaceAll(/:(\w+)/g, '{$1}')
        return setsState(method, pagePath) === sets
      })
      .map(({ id }) => id)
      .sort()
  expect(idsOf(true)).toEqual(SET_A_STATE)
  expect(idsOf(false)).toEqual(DO_SOMETHING)
})
