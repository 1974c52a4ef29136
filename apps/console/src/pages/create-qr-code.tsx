import { useNavigate } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { once } from '../form-key.ts'
import { pathOf } from '../objects.ts'
import { CODE_RULES, CodeFields, codeOf, NO_CODE } from '../parts/code-form.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'

export function CreateQrCode() {
  const navigate = useNavigate()
  return (
    <FormDialog
      label="Create QR code"
      send="Create"
      initial={{ merchantId: '', ...NO_CODE }}
      rules={{ merchantId: needed, qrName: needed, ...CODE_RULES }}
      fields={(form) => (
        <>
          <Picker of="merchant" {...form.getInputProps('merchantId')} />
          <CodeFields form={form} />
        </>
      )}
      submit={async ({ merchantId, ...values }, key) => {
        const code = await responseOf(
          api.POST('/qr-codes', {
            body: { merchantId, qrCode: codeOf(values) },
            params: { header: once(key) },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: ['qr-codes'] })
        await navigate({ to: pathOf('qrCode', code.qrCodeId) })
      }}
    />
  )
}
