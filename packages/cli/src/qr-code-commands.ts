import { type ListedCode, qrCode } from '@svc/server/qr-codes/search-qr-codes'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'

export function addQrCodeCommands(program: Command): void {
  const group = program.command('qr-code').description('list and show UPI QR codes of all merchants')
  addNounList<ListedCode>(group, qrCode, {
    by: 'merchantId',
    description: 'list QR codes of a merchant, or of all, newest first',
    example: 'svc admin qr-code list mer_… --status ACTIVE',
  })
  addNounShow<ListedCode>(group, qrCode, {
    id: 'qrCodeIdOrTr',
    or: 'q',
    description: 'show a QR code, by its id or by the reference that credits find it by',
    example: 'svc admin qr-code show qr_…',
  })
}
