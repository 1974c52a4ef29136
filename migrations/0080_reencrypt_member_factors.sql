-- When their data key is rotated, svc admin keys rotate encrypts the authenticator secrets of members again.
grant update (secret_encrypted) on member_totp to svc_operator;
