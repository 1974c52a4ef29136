import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { PORTAL_OPERATIONS } from '@svc/console-api/portal/portal-operations'
import { isKeyed, mayChange, type Operation } from '@svc/server/http/operation'
import { expect, test } from 'vitest'

/** POST operations without a key, by what keeps a repeat from creating something a second time. */
const WITHOUT_KEY: Readonly<Record<string, readonly string[]>> = {
  'the reference names the entry, and each is entered once': [
    'console.adjustPayment',
    'console.fundCardAccount',
    'console.settleLedgerAccount',
    'console.withdrawFromCardAccount',
  ],
  'it moves one record to a state, where it stays': [
    'console.acknowledgeAlert',
    'console.approvePayout',
    'console.approvePosting',
    'console.assignPayment',
    'console.assignRailNotice',
    'console.cancelPayout',
    'console.cancelQrCode',
    'console.closeDispute',
    'console.closeTenant',
    'console.completePayout',
    'console.completeRefund',
    'console.confirmReturn',
    'console.dismissRailNotice',
    'console.eraseUser',
    'console.rejectPosting',
    'console.reopenRailNotice',
    'console.resetOperatorPassword',
    'console.returnPayment',
    'console.reverseJournal',
    'console.setMerchantFee',
  ],
  'a merchant has one payout for a business day': ['console.preparePayout', 'console.runPayouts'],
  'a name is taken once, and a new link replaces the previous one': [
    'console.createOperator',
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
    'portal.changePassword',
    'portal.confirmSecondFactor',
    'portal.renewRecoveryCodes',
    'portal.signIn',
    'portal.signInToSandbox',
    'portal.startSecondFactor',
    'portal.stepUp',
  ],
}

test('every POST of the console and the portal has the key of its form, unless something else keeps a repeat from creating anything', () => {
  const operations = [...CONSOLE_OPERATIONS, ...PORTAL_OPERATIONS] as readonly Operation[]
  const unkeyed = operations.filter(
    (operation) => operation.method === 'POST' && mayChange(operation) && !isKeyed(operation),
  )
  expect(unkeyed.map(({ id }) => id).sort()).toEqual(Object.values(WITHOUT_KEY).flat().sort())
})
