import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import type { ClosingForm, FormProps, Values } from './form.tsx'
import { PlusIcon } from './icons.tsx'
import { lazyPart } from './lazy-part.tsx'

export type { FormProps } from './form.tsx'

const load = async () => (await import('./form.tsx')).Form
const Form = lazyPart(load) as <V extends Values>(props: ClosingForm<V>) => React.ReactNode

interface FormDialogProps<V extends Values> extends FormProps<V> {
  /** On the button that opens the form, and the form's title. */
  readonly label: string
  readonly variant?: 'filled' | 'default'
  /** A small button that says only this, for rows of a table. */
  readonly compact?: string
}

/** A button that opens a form. It closes when the service has taken what was typed, and keeps it otherwise; nothing closes it while its request runs. */
export function FormDialog<V extends Values>(props: FormDialogProps<V>) {
  const { label, variant = 'filled', compact } = props
  const [opened, { open, close }] = useDisclosure(false)
  const [busy, setBusy] = useState(false)
  return (
    <>
      <Button
        variant={variant}
        onClick={open}
        // By the time that it is pressed, the form is here.
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        {...(variant === 'filled' && { leftSection: <PlusIcon /> })}
        {...(compact && { size: 'compact-sm', 'aria-label': label })}
      >
        {compact ?? label}
      </Button>
      <Modal opened={opened} onClose={() => !busy && close()} title={label}>
        <Form {...props} close={close} onBusy={setBusy} />
      </Modal>
    </>
  )
}

/** Rule of a field that must have something in it. */
export const needed = (value: string | null): string | null => (value?.trim() ? null : 'Required')
