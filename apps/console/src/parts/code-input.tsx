import { TextInput, type TextInputProps } from '@mantine/core'

/** For a code of the second factor. */
export function CodeInput(props: TextInputProps) {
  return (
    <TextInput
      label="Code"
      description="Six digits of your authenticator app, or a recovery code"
      autoComplete="one-time-code"
      maxLength={11}
      {...props}
    />
  )
}
