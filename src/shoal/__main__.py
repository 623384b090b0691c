"""`python -m shoal` is the command `shoal`."""

try:
    from shoal.entry import main
except KeyboardInterrupt:  # from here on `main` sees to it
    import os

    os.write(2, b"shoal: interrupted; nothing was left half written\n")
    os._exit(130)

main()
